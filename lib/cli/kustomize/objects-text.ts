import { stringify } from 'yaml';
import { isJsonObject } from '../../object/json.js';

/** Objects as one YAML, their members sorted by name, so that the same objects are the same text. */
export function objectsText(objects: readonly object[]): string {
  const texts = objects.map((object) => stringify(sorted(object), yamlSettings));
  return texts.join('---\n');
}

/** How YAML is written: aliases and folded texts are hard to read in a diff. */
export const yamlSettings = {
  lineWidth: 0,
  aliasDuplicateObjects: false,
  indentSeq: false,
  // What older parsers take for yes and no is put in quotes.
  version: '1.1',
  compat: 'core',
} as const;

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return (value as readonly unknown[]).map(sorted);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}
