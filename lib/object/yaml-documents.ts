import { LineCounter, YAMLParseError, isScalar, parseAllDocuments, visit } from 'yaml';
import type { Document, DocumentOptions, ParseOptions, SchemaOptions, YAMLMap } from 'yaml';
import { checkYamlDepth } from './yaml-depth.js';

/** Options of {@link parseYamlDocuments}: those of the parser, except `uniqueKeys`. */
export type YamlOptions = Omit<ParseOptions & DocumentOptions & SchemaOptions, 'uniqueKeys'>;

/**
 * Parses the documents of a YAML text, each with its `errors`.
 *
 * It detects repeated keys itself, in linear time: the parser compares each key with all others of its map,
 * which takes minutes for a map of some megabytes.
 * @param what - begins the message, for example the name of the file
 * @throws OperatorError `TooDeep`: it nests too deeply.
 */
export function parseYamlDocuments(
  text: string,
  what: string,
  options: YamlOptions = {},
): readonly Document.Parsed[] {
  const { lineCounter: lines = new LineCounter() } = options;
  const settings = { ...options, lineCounter: lines, uniqueKeys: false };
  const documents = parseAllDocuments(checkYamlDepth(text, what), settings);
  if (!Array.isArray(documents)) return [];
  for (const document of documents) {
    visit(document, {
      Map: (_, map) => {
        document.errors.push(...repeatedKeys(map, lines));
      },
    });
  }
  return documents;
}

function repeatedKeys({ items }: YAMLMap, lines: LineCounter): readonly YAMLParseError[] {
  const offsets = new Map<unknown, number>();
  const errors: YAMLParseError[] = [];
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    const [offset = 0] = key.range ?? [];
    const first = offsets.get(key.value);
    if (first === undefined) {
      offsets.set(key.value, offset);
      continue;
    }
    const { line, col } = lines.linePos(offset);
    const again = `${JSON.stringify(key.value)} is a key since line ${lines.linePos(first).line}`;
    const message = `Map keys must be unique: ${again}, and again at line ${line}, column ${col}:`;
    errors.push(new YAMLParseError([offset, offset + 1], 'DUPLICATE_KEY', message));
  }
  return errors;
}
