import type * as re2js from 're2js' with { 'resolution-mode': 'import' };

/** Loads `re2js`, on the first call. */
export declare function loadRe2(): typeof re2js;
