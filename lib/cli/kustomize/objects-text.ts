import { stringify } from 'yaml';
import { isJsonObject } from '../../object/json.js';

/** Returns objects as one YAML text with sorted members, so that equal objects give equal texts. */
export function objectsText(objects: readonly object[]): string {
  const texts = objects.map((object) => stringify(sorted(object), yamlSettings));
  return texts.join('---\n');
}

/** YAML settings without aliases and folded texts, which are hard to read in a diff. */
export const yamlSettings = {
  lineWidth: 0,
  aliasDuplicateObjects: false,
  indentSeq: false,
  // Quotes the words that older parsers read as booleans.
  version: '1.1',
  compat: 'core',
} as const;

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return (value as readonly unknown[]).map(sorted);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}
