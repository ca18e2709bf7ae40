import { createHash } from 'node:crypto';
import { labelValueProblem, maxLabelLength } from './names.js';

const hashLength = 10;

/**
 * A label value that stands for `text`: `text` itself where it is one, else what of it is allowed,
 * cut, with a hash of the whole appended (the name of a custom resource may have 253 characters, a
 * label value 63). The same text gives the same value in every release, different texts different
 * values.
 */
export function labelValueOf(text: string): string {
  if (labelValueProblem(text) === undefined) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, hashLength);
  const kept = text
    .slice(0, maxLabelLength)
    .replaceAll(/[^-A-Za-z0-9_.]/g, '-')
    .slice(0, maxLabelLength - hashLength - 1)
    .replace(/^[-_.]+/, '');
  // The hash ends in a letter or digit, so whatever stands before it may stay.
  return kept === '' ? hash : `${kept}-${hash}`;
}
