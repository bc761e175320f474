#include "cmd/trust.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/paths.h"
#include "policy/world.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* One record may hold several texts. */
enum { RECORD_BYTES = 64 << 20 };

static void hash(const void *bytes, size_t len_bytes, char hex[65])
{
	unsigned char sum[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(sum, bytes, len_bytes);
	sodium_bin2hex(hex, 65, sum, sizeof sum);
}

static char *record_file(const struct folders *f, const char *path)
{
	char hex[65];
	char *out = NULL;

	hash(path, strlen(path), hex);
	if (asprintf(&out, "%s/wary/trust/%.32s.json", f->state, hex) < 0)
		return NULL;
	return out;
}

void trust_free(struct trust_record *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->files_n; i++) {
		free(r->files[i].path);
		free(r->files[i].text);
	}
	free(r->files);
	free(r->path);
	free(r);
}

int trust_add(struct trust_record *r, const char *path, const char *text, size_t len_bytes)
{
	struct trust_file *grown = reallocarray(r->files, r->files_n + 1, sizeof *grown);
	struct trust_file file = {.len_bytes = len_bytes};

	if (!grown)
		return -ERR_NOMEM;
	r->files = grown;
	file.path = strdup(path);
	file.text = calloc(1, len_bytes + 1);
	if (file.text)
		memcpy(file.text, text, len_bytes);
	r->files[r->files_n++] = file;
	if (!r->path)
		r->path = strdup(path);
	return file.path && file.text && r->path ? 0 : -ERR_NOMEM;
}

const struct trust_file *trust_text(const struct trust_record *r, const char *path)
{
	for (size_t i = 0; i < r->files_n; i++)
		if (strcmp(r->files[i].path, path) == 0)
			return &r->files[i];
	return NULL;
}

int trust_seal(struct trust_record *r)
{
	struct stat st;

	if (!r->files_n || stat(r->path, &st))
		return -ERR_NOTFOUND;
	r->owner = st.st_uid;
	r->accepted_s = clock_wall_ns() / 1000000000u;
	hash(r->files[0].text, r->files[0].len_bytes, r->sha256);
	return 0;
}

/* --- as JSON ---------------------------------------------------------- */

static void drop_json(json_t **j)
{
	json_decref(*j);
}
#define auto_json __attribute__((cleanup(drop_json))) json_t *

static int take_files(struct trust_record *r, const json_t *files)
{
	size_t i;
	json_t *file;

	json_array_foreach(files, i, file)
	{
		const json_t *path = json_object_get(file, "path");
		const json_t *text = json_object_get(file, "text");
		int err;

		if (!json_is_string(path) || !json_is_string(text))
			return -ERR_DAMAGED;
		err = trust_add(r, json_string_value(path), json_string_value(text),
		                json_string_length(text));
		if (err)
			return err;
	}
	return r->files_n ? 0 : -ERR_DAMAGED;
}

static int from_json(const json_t *j, struct trust_record **out)
{
	struct trust_record *r = calloc(1, sizeof *r);
	char hex[65];
	const char *said = json_string_value(json_object_get(j, "sha256"));
	int err = r ? take_files(r, json_object_get(j, "files")) : -ERR_NOMEM;

	if (!err) {
		hash(r->files[0].text, r->files[0].len_bytes, hex);
		if (!said || strcmp(said, hex) != 0)
			err = -ERR_DAMAGED;
	}
	if (err) {
		trust_free(r);
		return err;
	}
	memcpy(r->sha256, hex, sizeof hex);
	r->owner = (uid_t)json_integer_value(json_object_get(j, "owner"));
	r->accepted_s = (uint64_t)json_integer_value(json_object_get(j, "accepted"));
	*out = r;
	return 0;
}

static int load_file(const char *file, struct trust_record **out)
{
	auto_buf text = BUF_INIT;
	auto_json j = NULL;
	int err = paths_read(file, RECORD_BYTES, true, &text, NULL);

	if (err)
		return err;
	j = json_loadb(text.data ? text.data : "", text.len_bytes, JSON_ALLOW_NUL, NULL);
	return j ? from_json(j, out) : -ERR_DAMAGED;
}

int trust_load(const struct folders *f, const char *path, struct trust_record **out)
{
	auto_free char *file = record_file(f, path);
	struct trust_record *r = NULL;
	int err = file ? load_file(file, &r) : -ERR_NOMEM;

	if (!err && strcmp(r->path, path) != 0) {
		trust_free(r);
		err = -ERR_DAMAGED;
	}
	if (!err)
		*out = r;
	return err;
}

int trust_save(const struct folders *f, const struct trust_record *r)
{
	auto_free char *file = record_file(f, r->path);
	auto_free char *text = NULL;
	auto_json j = json_pack("{s:s, s:s, s:I, s:I, s:[]}", "path", r->path, "sha256", r->sha256,
	                        "owner", (json_int_t)r->owner, "accepted",
	                        (json_int_t)r->accepted_s, "files");
	json_t *files = json_object_get(j, "files");

	for (size_t i = 0; files && i < r->files_n; i++) {
		json_t *one = json_pack("{s:s, s:s%}", "path", r->files[i].path, "text",
		                        r->files[i].text, r->files[i].len_bytes);

		if (!one || json_array_append_new(files, one))
			return -ERR_FORMAT; /* not UTF-8 */
	}
	text = j ? json_dumps(j, JSON_INDENT(1) | JSON_SORT_KEYS) : NULL;
	if (!file || !text)
		return -ERR_NOMEM;
	return paths_write(file, text, strlen(text), 0600);
}

int trust_forget(const struct folders *f, const char *path)
{
	auto_free char *file = record_file(f, path);

	if (!file)
		return -ERR_NOMEM;
	if (unlink(file))
		return errno == ENOENT ? -ERR_NOTFOUND : -ERR_SYS;
	return 0;
}

/* --- against the disk ------------------------------------------------- */

static bool same(const struct trust_file *file)
{
	auto_buf text = BUF_INIT;

	return paths_read(file->path, POLICY_TEXT_MAX_BYTES, false, &text, NULL) == 0 &&
	       text.len_bytes == file->len_bytes &&
	       (!text.len_bytes || memcmp(text.data, file->text, text.len_bytes) == 0);
}

enum trust_state trust_compare(const struct trust_record *r, const char *path)
{
	struct stat st;
	bool present = stat(path, &st) == 0;

	if (!r)
		return present ? TRUST_NEW : TRUST_NONE;
	if (!present)
		return TRUST_GONE;
	if (st.st_uid != r->owner)
		return TRUST_CHANGED;
	for (size_t i = 0; i < r->files_n; i++)
		if (!same(&r->files[i]))
			return TRUST_CHANGED;
	return TRUST_CURRENT;
}

const char *trust_state_text(enum trust_state state)
{
	static const char *const texts[] = {
		[TRUST_NONE] = "not there",
		[TRUST_NEW] = "not accepted",
		[TRUST_CURRENT] = "accepted",
		[TRUST_CHANGED] = "changed since it was accepted",
		[TRUST_GONE] = "gone since it was accepted",
	};

	return texts[state];
}

int trust_find(const struct folders *f, char **path, struct trust_record **record)
{
	auto_free char *at = strdup(f->cwd);

	while (at && *at) {
		auto_free char *file = paths_join(at, TRUST_FILE);
		struct trust_record *r = NULL;
		int err = file ? trust_load(f, file, &r) : -ERR_NOMEM;
		char *slash;

		if (err && err != -ERR_NOTFOUND)
			return err;
		if (trust_compare(r, file) != TRUST_NONE) {
			*path = ptr_take(file);
			*record = r;
			return 0;
		}
		slash = strrchr(at, '/');
		if (!at[1] || !slash)
			break;
		slash[slash == at] = '\0';
	}
	return at ? -ERR_NOTFOUND : -ERR_NOMEM;
}

int trust_each(const struct folders *f, void (*each)(void *ctx, const struct trust_record *r),
               void *ctx)
{
	auto_free char *wary = paths_join(f->state, "wary");
	auto_free char *folder = wary ? paths_join(wary, "trust") : NULL;
	struct dirent **names = NULL;
	int n = folder ? scandir(folder, &names, NULL, alphasort) : -1;

	for (int i = 0; i < n; i++) {
		auto_free char *file = paths_join(folder, names[i]->d_name);
		struct trust_record *r = NULL;

		if (file && names[i]->d_name[0] != '.' && load_file(file, &r) == 0) {
			each(ctx, r);
			trust_free(r);
		}
		free(names[i]);
	}
	free(names);
	return folder ? 0 : -ERR_NOMEM;
}
