import {
  Composer,
  Lexer,
  LineCounter,
  YAMLParseError,
  isScalar,
  parseAllDocuments,
  visit,
  Parser,
} from 'yaml';
import type {
  Document,
  DocumentOptions,
  ParseOptions,
  ScalarTag,
  SchemaOptions,
  YAMLMap,
  CST,
} from 'yaml';
import { OperatorError, asError } from '../system/index.js';
import { checkDepth, maxDepth, tooDeep } from './depth.js';

/** Options of {@link parseYamlDocuments}: the options of the parser, except `uniqueKeys`. */
export type YamlOptions = Omit<ParseOptions & DocumentOptions & SchemaOptions, 'uniqueKeys'>;

/** Without a schema, the directive `%YAML 1.1` would choose one in which `1:30` is a number. */
const commonOptions = { schema: 'core', uniqueKeys: false } as const;

/**
 * Parses the documents of a YAML text, each with its `errors`.
 *
 * Repeated keys are detected here, in linear time. The parser would compare each key with all others of its
 * map, which takes minutes for a map of some megabytes. The errors have no stack trace: a text can have one at
 * each byte, and the traces would take most of the time.
 * @param what - begins the message, for example the name of the file
 * @throws OperatorError `TooDeep`: it nests too deeply.
 */
export function parseYamlDocuments(
  text: string,
  what: string,
  options: YamlOptions = {},
): readonly Document.Parsed[] {
  const { lineCounter: lines = new LineCounter() } = options;
  const settings = { ...commonOptions, ...options, lineCounter: lines };
  checkYamlDepth(text, what);
  return withoutTraces(() => {
    const documents = parseAllDocuments(text, settings);
    if (!Array.isArray(documents)) return [];
    for (const document of documents) {
      visit(document, {
        Map: (_, map) => {
          document.errors.push(...repeatedKeys(map, lines));
        },
      });
    }
    return documents;
  });
}

/**
 * Parses the first document of a YAML text, and ignores the others, as Kubernetes does. Reads the text once, up to the
 * next document or the first error between tokens: a text can have an error at each byte.
 *
 * Repeated keys are not an error. Errors quote no lines.
 * @param what - begins the message, for example the name of the file
 * @throws OperatorError `TooDeep`: it nests too deeply.
 */
export function parseFirstYamlDocument(
  text: string,
  what: string,
  options: YamlOptions = {},
): Document.Parsed {
  const composer = new Composer({ ...commonOptions, ...options });
  return withoutTraces(() => {
    for (const token of checkedTokens(text, what, options.lineCounter)) {
      for (const document of composer.next(token)) return document;
      if (token.type === 'error') break;
    }
    // `true` makes the composer return an empty document for a text without documents.
    const [only] = composer.end(true, text.length);
    return only as Document.Parsed;
  });
}

/** Calls a synchronous function, whose errors get no stack trace. */
function withoutTraces<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  // An assignment would throw if `Error.stackTraceLimit` is frozen.
  Reflect.set(Error, 'stackTraceLimit', 0);
  try {
    return work();
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
  }
}

/** Integers with a base, which Go's YAML parsers, and so Kubernetes, read: `0644` as octal, and `0b11`. */
const based: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^(?:[-+]_*)?0_*(?:[xX]_*[0-9a-fA-F][0-9a-fA-F_]*|[bB]_*[01][01_]*|[oO]?_*[0-7][0-7_]*)$/,
  resolve: (text) => {
    const digits = text.replaceAll(/[-+_]/g, '');
    const isPrefixed = /^0[a-z]/i.test(digits);
    const size = Number(isPrefixed ? digits : `0o${digits}`);
    // Go reads a number of more than 64 bits as a text or a decimal number.
    if (size >= 2 ** 64) return isPrefixed ? text : Number(text.replaceAll('_', ''));
    return text.startsWith('-') ? -size : size;
  },
};

/** Decimal numbers, which may have underscores: `1_000`. A number that is too large is a text. */
const decimal: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^(?:[-+]_*\._*[0-9][0-9_]*|\.[0-9]+|(?:[-+]_*)?[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE]_*[-+]?_*[0-9][0-9_]*)?$/,
  resolve: (text) => {
    const value = Number(text.replaceAll('_', ''));
    return Number.isFinite(value) ? value : text;
  },
};

/** Refuses the numbers that JSON lacks: `.inf` and `.nan`. */
const infinite: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  resolve: (text, onError) => {
    onError(`JSON has no number ${text}`);
    return text;
  },
};

/** Reads the decoded bytes as text. */
const binary: ScalarTag = {
  tag: 'tag:yaml.org,2002:binary',
  resolve: (text) => Buffer.from(text, 'base64').toString(),
};

/** Reads `yes` and `on` as booleans too, as in YAML 1.1. */
const wordBoolean: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:[yY]|[yY]es|YES|[oO]n|ON|[nN]|[nN]o|NO|[oO]ff|OFF)$/,
  resolve: (text) => /^(?:y|on)/i.test(text),
};

/** Returns the tags by which Kubernetes reads plain scalars. */
export function goYamlTags(tags: readonly (string | object)[]): ScalarTag[] {
  return [based, decimal, infinite, binary, wordBoolean, ...tags] as ScalarTag[];
}

interface YamlValuesOptions {
  /**
   * Whether any client can send the text. Refuses aliases, with which some bytes become gigabytes. Errors
   * quote no lines: the parser would quote one for each error, 100,000 times a line of 100 kB.
   * @defaultValue false
   */
  readonly untrusted?: boolean;
}

/**
 * Returns every non-empty document of a text, as Kubernetes' tools read it.
 * @throws OperatorError `InvalidConfig`: invalid YAML
 */
export function parseYamlValues(
  text: string,
  file: string,
  { untrusted = false }: YamlValuesOptions = {},
): readonly unknown[] {
  const lineCounter = new LineCounter();
  const options = { merge: true, customTags: goYamlTags, lineCounter } as const;
  const settings = { ...options, prettyErrors: !untrusted, logLevel: 'error' } as const;
  return parseYamlDocuments(text, file, settings).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) {
      const { line, col } = lineCounter.linePos(problem.pos[0]);
      const isPlaced = / at line \d/.test(problem.message);
      const place = isPlaced ? '' : ` at line ${line}, column ${col}`;
      const message = `${file}: ${problem.message.trimEnd()}${place}`;
      throw new OperatorError('InvalidConfig', message, { cause: problem });
    }
    // A copy: a change at one place must not reach the aliases of the value.
    const value: unknown = structuredClone(
      checkDepth(valueOf(document, file, untrusted ? 0 : 1_000), file),
    );
    return value === null || value === undefined ? [] : [value];
  });
}

function valueOf(document: Document.Parsed, file: string, maxAliasCount: number): unknown {
  try {
    return document.toJS({ maxAliasCount });
  } catch (error) {
    // Only this conversion checks aliases and merge keys; the parser does not.
    const cause = asError(error);
    const isAlias = cause instanceof ReferenceError && maxAliasCount === 0;
    const problem = isAlias ? 'aliases are not accepted; repeat the value' : cause.message;
    throw new OperatorError('InvalidConfig', `${file}: ${problem}`, { cause });
  }
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

/**
 * Checks that a YAML text can be composed. Composers recurse for each level, and V8 aborts the process if it compiles a
 * regular expression near the end of the stack. The parser does not recurse: its stack holds the open collections. The
 * check does not count the nesting of aliases: check the parsed value with `checkDepth`.
 * @param what - begins the message, for example the name of the file
 * @returns `text`
 * @throws OperatorError `TooDeep`: it nests deeper than {@link maxDepth}.
 */
export function checkYamlDepth(text: string, what: string): string {
  if (indicatorsIn(text) <= maxDepth) return text;
  const tokens = checkedTokens(text, what);
  while (tokens.next().done !== true) continue;
  return text;
}

/** Returns the documents of a text, and what is between them. @throws OperatorError `TooDeep` */
function* checkedTokens(text: string, what: string, lines?: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines?.addNewLine);
  lines?.addNewLine(0);
  const open: OpenToken[] = [];
  for (const token of new Lexer().lex(text)) {
    yield* parser.next(token);
    if (depthOf(parser.stack, open) > maxDepth) throw tooDeep(what);
  }
  yield* parser.end();
}

/** A token of the parser's stack, and the number of levels up to it. */
interface OpenToken {
  readonly token: CST.Token;
  readonly depth: number;
  /** The last item of a flow sequence, and whether it is a pair. */
  readonly item?: CST.CollectionItem | undefined;
  readonly isPair: boolean;
}

/** Returns the number of open collections. Counts from the last token of `open` that is still on the stack. */
function depthOf(stack: readonly CST.Token[], open: OpenToken[]): number {
  while (open.length > 0 && open.at(-1)?.token !== stack[open.length - 1]) open.pop();
  // Count the last token again: the parser may have added a pair to it.
  const last = open.pop();
  let depth = open.at(-1)?.depth ?? 0;
  for (let at = open.length; at < stack.length; at++) {
    const token = stack[at] as CST.Token;
    const item = sequenceItemOf(token);
    // The parser adds at most one indicator at a time, so check the last one. A check of all would take minutes for an
    // item with many lines.
    const isPair = (last?.item === item && last?.isPair === true) || endsWithIndicator(item);
    // A pair in a sequence is a mapping of its own: `[a: 1]` has two levels.
    if ('items' in token) depth += isPair ? 2 : 1;
    open.push({ token, depth, item, isPair });
  }
  return depth;
}

/** Counts the characters that may open a level: an upper bound of the nesting. */
function indicatorsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5b || code === 0x7b || code === 0x2d || code === 0x3a || code === 0x3f) count++;
  }
  return count;
}

/** Returns the last item of a flow sequence. */
function sequenceItemOf(token: CST.Token): CST.CollectionItem | undefined {
  const isSequence = token.type === 'flow-collection' && token.start.type === 'flow-seq-start';
  return isSequence ? token.items.at(-1) : undefined;
}

function endsWithIndicator({ start = [], sep = [] }: Partial<CST.CollectionItem> = {}): boolean {
  return [start.at(-1), sep.at(-1)].some(
    (last) => last?.type === 'explicit-key-ind' || last?.type === 'map-value-ind',
  );
}
