/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "symbolize/elf.h"
#include "user/base/mem.h"

#define PAGE_BYTES		4096u
#define NOTES_MAX_BYTES		(1u << 20)
#define SECTION_NAMES_MAX_BYTES (64u << 20)

static bool header_is_ours(const Elf64_Ehdr *h)
{
	return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB;
}

static void read_segments(struct elf *e, const Elf64_Ehdr *h)
{
	if (!h->e_phnum || h->e_phentsize != sizeof(Elf64_Phdr))
		return;
	e->phdrs = image_copy(&e->image, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr),
			      ELF_LOADS_MAX * sizeof(Elf64_Phdr));
	e->phdr_cnt = e->phdrs ? h->e_phnum : 0;
}

/* Counts beyond 16 bits stand in section 0. */
static void read_sections(struct elf *e, const Elf64_Ehdr *h)
{
	uint64_t cnt = h->e_shnum, names = h->e_shstrndx;
	Elf64_Shdr first;

	if (!h->e_shoff || h->e_shentsize != sizeof(Elf64_Shdr) ||
	    !image_read(&e->image, h->e_shoff, &first, sizeof(first)))
		return;
	if (!cnt)
		cnt = first.sh_size;
	if (names == SHN_XINDEX)
		names = first.sh_link;
	if (cnt > ELF_SECTIONS_MAX)
		return;
	e->sections = image_copy(&e->image, h->e_shoff, cnt * sizeof(Elf64_Shdr), UINT64_MAX);
	e->section_cnt = e->sections ? cnt : 0;
	if (names >= e->section_cnt || e->sections[names].sh_type == SHT_NOBITS)
		return;
	e->section_names = image_copy(&e->image, e->sections[names].sh_offset,
				      e->sections[names].sh_size, SECTION_NAMES_MAX_BYTES);
	e->section_names_bytes = e->section_names ? e->sections[names].sh_size : 0;
}

static bool note_is_build_id(const uint8_t *at, const Elf64_Nhdr *n)
{
	return n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && n->n_descsz &&
	       !memcmp(at, "GNU", 4);
}

/* A note: sizes of name and description, type, both padded to 4 bytes. */
static bool find_build_id(struct elf *e, uint64_t off_bytes, uint64_t len_bytes)
{
	uint8_t *notes = image_copy(&e->image, off_bytes, len_bytes, NOTES_MAX_BYTES);
	uint64_t at = 0;
	bool found = false;

	while (notes && !found && len_bytes - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		uint64_t name, desc;

		memcpy(&n, notes + at, sizeof(n));
		name = at + sizeof(n);
		desc = name + ((n.n_namesz + 3ull) & ~3ull);
		if (desc > len_bytes || n.n_descsz > len_bytes - desc)
			break;
		found = note_is_build_id(notes + name, &n);
		if (found) {
			e->build_id_bytes = n.n_descsz < ELF_BUILD_ID_MAX_BYTES ?
						    n.n_descsz :
						    ELF_BUILD_ID_MAX_BYTES;
			memcpy(e->build_id, notes + desc, e->build_id_bytes);
		}
		at = desc + ((n.n_descsz + 3ull) & ~3ull);
		if (at > len_bytes)
			break;
	}
	free(notes);
	return found;
}

/* Sections first: in a separate debug file the segments' contents are gone, the note section is not. */
static void read_build_id(struct elf *e)
{
	for (size_t i = 0; i < e->section_cnt; i++)
		if (e->sections[i].sh_type == SHT_NOTE &&
		    find_build_id(e, e->sections[i].sh_offset, e->sections[i].sh_size))
			return;
	for (size_t i = 0; i < e->phdr_cnt; i++)
		if (e->phdrs[i].p_type == PT_NOTE &&
		    find_build_id(e, e->phdrs[i].p_offset, e->phdrs[i].p_filesz))
			return;
}

int elf_open(struct elf *e, const struct image *image)
{
	Elf64_Ehdr h;

	memset(e, 0, sizeof(*e));
	e->image = *image;
	if (!image_read(image, 0, &h, sizeof(h)) || !header_is_ours(&h))
		return -ENOEXEC;
	e->type = h.e_type;
	e->machine = h.e_machine;
	read_segments(e, &h);
	read_sections(e, &h);
	read_build_id(e);
	return 0;
}

void elf_close(struct elf *e)
{
	free(e->phdrs);
	free(e->sections);
	free(e->section_names);
	memset(e, 0, sizeof(*e));
	e->image.fd = -1;
}

const char *elf_section_name(const struct elf *e, const Elf64_Shdr *s)
{
	return s->sh_name < e->section_names_bytes ? e->section_names + s->sh_name : "";
}

const Elf64_Shdr *elf_section(const struct elf *e, const char *name)
{
	for (size_t i = 0; i < e->section_cnt; i++)
		if (!strcmp(elf_section_name(e, &e->sections[i]), name))
			return &e->sections[i];
	return NULL;
}

const Elf64_Shdr *elf_section_by_type(const struct elf *e, uint32_t type)
{
	for (size_t i = 0; i < e->section_cnt; i++)
		if (e->sections[i].sh_type == type)
			return &e->sections[i];
	return NULL;
}

static void *inflate_section(const uint8_t *raw, uint64_t raw_bytes, uint64_t max_bytes,
			     uint64_t *len_bytes)
{
	Elf64_Chdr h;
	uLongf out_bytes;
	uint8_t *out;

	if (raw_bytes < sizeof(h))
		return NULL;
	memcpy(&h, raw, sizeof(h));
	/* zlib cannot shrink a thousandfold twice over: a larger claim is a bomb */
	if (h.ch_type != ELFCOMPRESS_ZLIB || h.ch_size > max_bytes || h.ch_size / 2048 > raw_bytes)
		return NULL;
	out = xmalloc(h.ch_size + 1);
	out_bytes = h.ch_size;
	if (uncompress(out, &out_bytes, raw + sizeof(h), raw_bytes - sizeof(h)) != Z_OK) {
		free(out);
		return NULL;
	}
	out[out_bytes] = '\0';
	*len_bytes = out_bytes;
	return out;
}

void *elf_section_copy(const struct elf *e, const Elf64_Shdr *s, uint64_t max_bytes,
		       uint64_t *len_bytes)
{
	void *raw, *inflated;

	*len_bytes = 0;
	raw = s && s->sh_type != SHT_NOBITS ?
		      image_copy(&e->image, s->sh_offset, s->sh_size, max_bytes) :
		      NULL;
	if (!raw)
		return NULL;
	if (!(s->sh_flags & SHF_COMPRESSED)) {
		*len_bytes = s->sh_size;
		return raw;
	}
	inflated = inflate_section(raw, s->sh_size, max_bytes, len_bytes);
	free(raw);
	return inflated;
}

/* .gnu_debuglink: name, NUL, padding to 4 bytes, CRC-32 of the debug file. */
static void read_debuglink(const struct elf *e, struct elf_debug_links *links)
{
	uint64_t len_bytes, crc_at;
	char *data = elf_section_copy(e, elf_section(e, ".gnu_debuglink"), 4096, &len_bytes);

	if (!data)
		return;
	crc_at = (strlen(data) + 4) & ~3ull;
	if (!*data || crc_at + 4 > len_bytes) {
		free(data);
		return;
	}
	memcpy(&links->debuglink_crc, data + crc_at, 4);
	links->debuglink = data;
}

/* .gnu_debugaltlink: name, NUL, build-id of the file that dwz moved shared debug data to. */
static void read_altlink(const struct elf *e, struct elf_debug_links *links)
{
	uint64_t len_bytes, id_at;
	char *data = elf_section_copy(e, elf_section(e, ".gnu_debugaltlink"), 4096, &len_bytes);

	if (!data)
		return;
	id_at = strlen(data) + 1;
	if (!*data || id_at >= len_bytes) {
		free(data);
		return;
	}
	links->altlink_id_bytes = len_bytes - id_at < ELF_BUILD_ID_MAX_BYTES ?
					  (uint32_t)(len_bytes - id_at) :
					  ELF_BUILD_ID_MAX_BYTES;
	memcpy(links->altlink_id, data + id_at, links->altlink_id_bytes);
	links->altlink = data;
}

void elf_debug_links(const struct elf *e, struct elf_debug_links *links)
{
	memset(links, 0, sizeof(*links));
	read_debuglink(e, links);
	read_altlink(e, links);
}

void elf_debug_links_free(struct elf_debug_links *links)
{
	free(links->debuglink);
	free(links->altlink);
	memset(links, 0, sizeof(*links));
}

bool elf_has_debug_info(const struct elf *e)
{
	const Elf64_Shdr *s = elf_section(e, ".debug_info");

	if (!s)
		s = elf_section(e, ".zdebug_info");
	return s && s->sh_type != SHT_NOBITS;
}

bool elf_addr_of_offset(const struct elf *e, uint64_t off_bytes, uint64_t *addr)
{
	const Elf64_Phdr *best = NULL;

	for (size_t i = 0; i < e->phdr_cnt; i++) {
		const Elf64_Phdr *p = &e->phdrs[i];

		if (p->p_type != PT_LOAD || off_bytes < p->p_offset ||
		    off_bytes - p->p_offset >= p->p_filesz)
			continue;
		if (!best || ((p->p_flags & PF_X) && !(best->p_flags & PF_X)))
			best = p;
	}
	if (best)
		*addr = off_bytes - best->p_offset + best->p_vaddr;
	return best;
}

bool elf_code_pages(const struct elf *e, uint64_t first, uint64_t last, uint64_t *off_bytes)
{
	for (size_t i = 0; i < e->phdr_cnt; i++) {
		const Elf64_Phdr *p = &e->phdrs[i];
		uint64_t start = p->p_vaddr & ~(uint64_t)(PAGE_BYTES - 1);

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || first < start || first > last ||
		    last - start > p->p_memsz + (PAGE_BYTES - 1) ||
		    (last & ~(uint64_t)(PAGE_BYTES - 1)) >= p->p_vaddr + p->p_memsz)
			continue;
		*off_bytes = p->p_offset + (first - p->p_vaddr);
		return true;
	}
	return false;
}
