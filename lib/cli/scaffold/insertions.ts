import { OperatorError } from '../../system/operator-error.js';
import { isImported, withImported } from './import-statements.js';

/** Start of a marker after the comment characters; lines are inserted above it. */
const markerWord = '+operator-builder:scaffold:';

/** Lines to insert above a marker. */
export interface Insertion {
  /** The marker's line, trimmed. */
  readonly marker: string;
  /** The lines as in the template. */
  readonly lines: readonly string[];
  /** Indentation of the marker in the template. */
  readonly indentation: string;
}

/** A text with all insertions, or its missing markers. */
export type Inserted =
  | { readonly type: 'inserted'; readonly text: string }
  | { readonly type: 'markers-missing'; readonly missing: readonly Insertion[] };

/**
 * Returns the lines above the markers that one text has in addition to another. Both templates can thus be
 * complete, valid files.
 * @throws OperatorError `InvalidConfig`: the markers differ: an error in the templates
 */
export function insertionsOf(bare: string, more: string): readonly Insertion[] {
  const bareLines = bare.split('\n');
  const lines = more.split('\n');
  return lines.flatMap((line, end) => {
    const place = bareLines.indexOf(line);
    // A marker missing from the other text is itself inserted.
    if (!line.includes(markerWord) || place < 0) return [];
    const start = lines.lastIndexOf(bareLines[place - 1] ?? '', end - 1) + 1;
    if (place < 1 || start < 1) {
      throw new OperatorError('InvalidConfig', `the templates differ at ${line}`);
    }
    if (start === end) return [];
    const marker = line.trim();
    const indentation = line.slice(0, line.indexOf(marker));
    return [{ marker, lines: lines.slice(start, end), indentation }];
  });
}

/** Inserts the missing lines with the indentation of the text's markers. */
export function insert(text: string, insertions: readonly Insertion[]): Inserted {
  const present = new Set(trimmedLines(text));
  const isThere = (line: string): boolean => present.has(line.trim()) || isImported(text, line);
  const wanted = insertions.filter(({ lines }) => !lines.every(isThere));
  const marked = wanted.reduce(withMarker, text);
  const markers = new Set(trimmedLines(marked));
  const missing = wanted.filter(({ marker }) => !markers.has(marker));
  if (missing.length > 0) return { type: 'markers-missing', missing };
  return { type: 'inserted', text: wanted.reduce(withInsertion, marked) };
}

function trimmedLines(text: string): readonly string[] {
  return text.split('\n').map((line) => line.trim());
}

/** Restores a marker whose place is known from the code: the conversion's is below the versions. */
function withMarker(text: string, { marker }: Insertion): string {
  const lines = text.split('\n');
  if (!marker.endsWith(':conversion') || trimmedLines(text).includes(marker)) return text;
  const starts = lines.flatMap((line, index) => (/^ *versions: \[/.test(line) ? [index] : []));
  const [start = 0] = starts;
  if (starts.length !== 1) return text;
  const [first = ''] = lines.slice(start);
  const [indentation = ''] = /^ */.exec(first) ?? [];
  const isClosed = /\],?\r?$/.test(first);
  const end = isClosed
    ? start
    : lines.findIndex((line, index) => index > start && line.startsWith(`${indentation}]`));
  if (end < 0) return text;
  const ending = first.endsWith('\r') ? '\r' : '';
  return lines.toSpliced(end + 1, 0, `${indentation}${marker}${ending}`).join('\n');
}

/** Inserts lines. Imports may already exist for another use; each module is imported once. */
function withInsertion(text: string, { marker, lines, indentation }: Insertion): string {
  const importing = lines.reduce(
    (changed, line) =>
      isImported(changed, line) ? changed : (withImported(changed, line) ?? changed),
    text,
  );
  const before = importing.split('\n');
  const place = before.findIndex((line) => line.trim() === marker);
  const found = before[place] ?? '';
  const own = indentationAt(before, place);
  // Windows files end lines with CRLF.
  const ending = found.endsWith('\r') ? '\r' : '';
  const added = lines
    .filter((line) => !isImported(importing, line))
    .map((line) => own + line.slice(indentation.length) + ending);
  return before.toSpliced(place, 0, ...added).join('\n');
}

/** Returns the marker's indentation, or that of the list above it, which kustomize may have unindented. */
function indentationAt(lines: readonly string[], place: number): string {
  const [own = ''] = /^[ \t]*/.exec(lines[place] ?? '') ?? [];
  const above = lines.slice(0, place).findLast((line) => !/^\s*(?:#.*)?$/.test(line)) ?? '';
  const [entry = own] = /^ *(?=- )/.exec(above) ?? [];
  return entry.length < own.length ? entry : own;
}

/** Returns a diff of the lines to add by hand to a file whose markers are missing. */
export function missingMarkers(path: string, missing: readonly Insertion[]): string {
  const added = missing.flatMap(({ marker, lines }) => ['@@', ...lines, marker]);
  const diff = added.map((line) => (line === '@@' ? line : `+${line}`));
  return [`--- ${path}`, `+++ ${path}`, ...diff].join('\n');
}
