import { createHash } from 'node:crypto';
import { labelValueProblem, maxLabelLength } from './names.js';

const hashLength = 10;

/**
 * Returns a label value for `text`: `text` itself if valid, else its valid characters, cut, with a hash of
 * the whole text (the name of a custom resource may have 253 characters, a label value 63). The result is the
 * same in every release, and different for different texts.
 */
export function labelValueOf(text: string): string {
  if (labelValueProblem(text) === undefined) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, hashLength);
  const kept = text
    .slice(0, maxLabelLength)
    .replaceAll(/[^-A-Za-z0-9_.]/g, '-')
    .slice(0, maxLabelLength - hashLength - 1)
    .replace(/^[-_.]+/, '');
  // The hash ends in a letter or digit, so any allowed character may precede it.
  return kept === '' ? hash : `${kept}-${hash}`;
}
