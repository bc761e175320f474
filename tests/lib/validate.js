// validate.js MODULES FORMAT:FILE…: what in each file does not fit the public schema of its format, as
// JSON, {FORMAT:FILE: {lines, wrong: [[line, what]…]}}. MODULES has the schemas and validators as npm
// packages (see schemas.py, which puts them there).
"use strict";
const { createRequire } = require("module");
const fs = require("fs");
const net = require("net");
const path = require("path");
const util = require("util");

const from = createRequire(path.resolve(process.argv[2], "here.js"));
// A file of a package, whatever it says that it exports.
const of = (...names) => path.resolve(process.argv[2], "node_modules", ...names);

// ---- CycloneDX: the JSON schema, with its formats; package URLs by their own parser ----------------------

function cyclonedx() {
	const Ajv = from("ajv").default;
	const ajv = new Ajv({ strict: false, allErrors: true });
	const schema = (name) => JSON.parse(fs.readFileSync(
		of("@cyclonedx/cyclonedx-library/res/schema", `${name}.SNAPSHOT.schema.json`), "utf8"));
	from("ajv-formats")(ajv);
	from("ajv-formats-draft2019")(ajv);
	ajv.addSchema(schema("spdx"), "http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json");
	ajv.addSchema(schema("jsf-0.82"), "http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json");
	const fits = ajv.compile(schema("bom-1.6"));
	const { PackageURL } = from("packageurl-js");
	return (text) => {
		const bom = JSON.parse(text);
		const wrong = fits(bom) ? [] : fits.errors.map((e) => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`);
		for (const one of bom.components || []) {
			// A "+" may be written as it is, or encoded.
			const purl = one.purl === undefined ? "" : String(PackageURL.fromString(one.purl));
			if (purl.replaceAll("+", "%2B") !== (one.purl || "").replaceAll("+", "%2B"))
				wrong.push(`purl ${one.purl} is ${purl}`);
		}
		return wrong;
	};
}

// ---- OTLP: there and back through the protobuf messages; what they do not know, or hold otherwise, is lost --

const ID = { traceId: /^(?!0+$)[0-9a-f]{32}$/, spanId: /^(?!0+$)[0-9a-f]{16}$/ };

function otlp() {
	const root = from(of("@opentelemetry/otlp-transformer/build/src/generated/root.js"));
	const proto = root.opentelemetry.proto;
	const Request = proto.collector.logs.v1.ExportLogsServiceRequest;
	const severities = Object.values(proto.logs.v1.SeverityNumber).filter((one) => typeof one === "number");
	const conventions = new Set(Object.values(from(of("@opentelemetry/semantic-conventions/build/src/index-incubating.js")))
		.filter((one) => typeof one === "string"));
	const attributes = (list) => {
		const names = list.map((one) => one.key);
		const wrong = names.filter((name) => !name.startsWith("wary.") && !conventions.has(name))
			.map((name) => `attribute ${name} is no convention`);
		return new Set(names).size === names.length ? wrong : [...wrong, "an attribute is there twice"];
	};
	const record = (one) => [
		...Object.keys(ID).filter((name) => name in one && !ID[name].test(one[name])).map((name) => `${name} ${one[name]}`),
		...(severities.includes(one.severityNumber) ? [] : [`severityNumber ${one.severityNumber}`]),
		...attributes(one.attributes),
	];
	return (text) => {
		const request = JSON.parse(text);
		const back = Request.toObject(Request.decode(Request.encode(Request.fromObject(request)).finish()),
			{ longs: String, bytes: String });
		if (!util.isDeepStrictEqual(back, request))
			return [`is not what the messages hold of it: ${parting(request, back, "")}`];
		return request.resourceLogs.flatMap((resource) => [...attributes(resource.resource.attributes),
			...resource.scopeLogs.flatMap((scope) => scope.logRecords.flatMap(record))]);
	};
}

// Where two values part first.
function parting(a, b, at) {
	if (a === null || b === null || typeof a !== "object" || typeof b !== "object")
		return util.isDeepStrictEqual(a, b) ? "" : `${at} ${JSON.stringify(a)} ${JSON.stringify(b)}`;
	for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
		const found = parting(a[name], b[name], `${at}.${name}`);
		if (found)
			return found;
	}
	return "";
}

// ---- ECS: the fields of one version ------------------------------------------------------------------------

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const isText = (one) => typeof one === "string";
const TYPES = {
	keyword: isText, constant_keyword: isText, wildcard: isText, match_only_text: isText,
	long: Number.isSafeInteger, boolean: (one) => typeof one === "boolean", float: Number.isFinite,
	date: (one) => isText(one) && DATE.test(one) && !Number.isNaN(Date.parse(one)),
	ip: (one) => isText(one) && net.isIP(one) !== 0,
};

function* flat(row, before) {
	for (const [name, value] of Object.entries(row)) {
		if (value !== null && typeof value === "object" && !Array.isArray(value))
			yield* flat(value, `${before}${name}.`);
		else
			yield [before + name, value];
	}
}

function ecsField(field, name, value) {
	if (!field)
		return [`${name} is no field`];
	if (Array.isArray(value) !== field.normalize.includes("array"))
		return [`${name} is a list, or should be one`];
	const values = Array.isArray(value) ? value : [value];
	const allowed = (field.allowed_values || []).map((one) => one.name);
	return values.filter((one) => !(TYPES[field.type] || (() => false))(one) || allowed.length && !allowed.includes(one))
		.map((one) => `${name} ${JSON.stringify(one)} is no ${field.type} of it`);
}

function ecs(version) {
	const fields = from(of(version, "build/commonjs/ecs_flat.js")).EcsFlat;
	const required = Object.keys(fields).filter((name) => fields[name].required);
	const types = Object.fromEntries(fields["event.category"].allowed_values
		.map((one) => [one.name, one.expected_event_types || []]));
	return (text) => {
		const row = JSON.parse(text);
		const pairs = [...flat(row, "")].filter(([name]) => !name.startsWith("wary."));
		const wrong = pairs.flatMap(([name, value]) => ecsField(fields[name], name, value));
		wrong.push(...required.filter((name) => !pairs.some((one) => one[0] === name)).map((name) => `${name} is missing`));
		const may = [].concat(row.event.category).flatMap((one) => types[one] || []);
		wrong.push(...[].concat(row.event.type).filter((one) => !may.includes(one))
			.map((one) => `event.type ${one} is not of ${row.event.category}`));
		return wrong;
	};
}

// ---- files -------------------------------------------------------------------------------------------------

const FORMATS = { cyclonedx, otlp, "ecs-before": () => ecs("ecs-before"), "ecs-after": () => ecs("ecs-after") };
const made = {};

function judge(check, text) {
	try {
		return check(text);
	} catch (error) {
		return [String(error)];
	}
}

function validate(argument) {
	const [format, file] = argument.split(":");
	const check = made[format] || (made[format] = FORMATS[format]());
	const lines = fs.readFileSync(file, "utf8").split("\n").slice(0, -1);
	// A bill of materials is one document, all others are one a line.
	const texts = format === "cyclonedx" ? [lines.join("\n")] : lines;
	return { lines: texts.length, wrong: texts.flatMap((text, n) => judge(check, text).slice(0, 5).map((what) => [n, what])) };
}

console.log(JSON.stringify(Object.fromEntries(process.argv.slice(3).map((one) => [one, validate(one)]))));
