/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why an address has no name. The values are those of enum name_reason in the profile model, which this
 * folder may not include; user/capture asserts that they are equal. */
#ifndef CP_SYMBOLIZE_REASON_H
#define CP_SYMBOLIZE_REASON_H

enum sym_reason {
	SYM_OK = 0,
	SYM_PENDING = 1,    /* not looked up */
	SYM_NO_MAPPING = 2, /* no mapping covers the address */
	SYM_STRIPPED = 3,   /* the file has no symbol that covers it */
	SYM_DELETED = 4,    /* the mapped file is gone and could not be read through /proc */
	SYM_REPLACED = 5,   /* the file at the path is not the one that was mapped */
	SYM_ANONYMOUS = 6,  /* memory without a file and without a perf map entry */
	SYM_UNREADABLE = 7, /* no permission, or not an ELF file */
	SYM_KPTR = 8,	    /* the kernel hides its addresses (kptr_restrict) */
	SYM_KERNEL = 9,	    /* no kernel symbol covers it */
	SYM_EXITED = 10,    /* the process was gone before its mappings could be read */
	SYM_HOSTILE = 11,   /* reading the file failed its limits */
	SYM_REASON_MAX = 12,
};

/* "[stripped]"; "" for SYM_OK and values outside of the enum. */
const char *sym_reason_name(int reason);

#endif
