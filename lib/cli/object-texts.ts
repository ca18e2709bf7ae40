import { FILE_HEADERS_ONLY, createTwoFilesPatch } from 'diff';
import { stringify } from 'yaml';
import type {
  CreateNodeOptions,
  DocumentOptions,
  SchemaOptions,
  TagId,
  ToStringOptions,
} from 'yaml';
import { withSortedMembers } from '../object/index.js';

/** Quotes a text as one word of a POSIX shell, bash or zsh. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const mergeTag = 'tag:yaml.org,2002:merge';

const coreTags: TagId[] = [
  'null',
  'bool',
  'int',
  'intHex',
  'intOct',
  'float',
  'floatExp',
  'floatNaN',
];

/** Returns objects as one YAML text with sorted members, so that equal objects give equal texts. */
export function objectsText(objects: readonly object[]): string {
  const texts = objects.map((object) => stringify(withSortedMembers(object), yamlSettings));
  return texts.join('---\n');
}

/**
 * YAML settings for texts that parsers of YAML 1.1, including Kubernetes', and of 1.2 read as the
 * same objects. No aliases and no folded texts, which are hard to read in a diff.
 */
export const yamlSettings: CreateNodeOptions & SchemaOptions & ToStringOptions & DocumentOptions = {
  lineWidth: 0,
  aliasDuplicateObjects: false,
  indentSeq: false,
  // Quotes the words that older parsers read as booleans.
  version: '1.1',
  // Parsers merge a member named `<<` unless the name is quoted. The library quotes the name if `compat` has the tag of
  // merge keys and `customTags` does not.
  merge: false,
  customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.tag !== mergeTag),
  compat: [...coreTags, 'merge'],
};

// Above this number of changed lines, the diff replaces the whole text.
const mostChanges = 2_000;

/**
 * Returns the change of a file in the form of `diff -u`.
 * @param before - undefined: the file is created
 * @param after - undefined: the file is deleted
 */
export function textDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
): string {
  const from = before === undefined ? '/dev/null' : path;
  const to = after === undefined ? '/dev/null' : path;
  const [old, now] = [before ?? '', after ?? ''];
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, maxEditLength: mostChanges };
  const patch = createTwoFilesPatch(from, to, old, now, undefined, undefined, options);
  return patch ?? [`--- ${from}`, `+++ ${to}`, ...wholeHunk(old, now), ''].join('\n');
}

function wholeHunk(before: string, after: string): readonly string[] {
  const [old, now] = [before, after].map((text) => text.replace(/\n$/, '').split('\n'));
  const place = `@@ -1,${old?.length ?? 0} +1,${now?.length ?? 0} @@`;
  return [
    place,
    ...(old ?? []).map((line) => `-${line}`),
    ...(now ?? []).map((line) => `+${line}`),
  ];
}
