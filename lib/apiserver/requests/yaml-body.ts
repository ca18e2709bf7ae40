import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  Scalar,
} from 'yaml';
import type { Alias, Pair, ScalarTag, Tags, YAMLMap } from 'yaml';
import { goYamlTags, parseFirstYamlDocument, quoted } from '../../object/index.js';
import { depthLimit } from '../writes/write-request.js';

/** A text in YAML as JSON. */
interface YamlBody {
  readonly json: string;
  /** The problems of Go's decoder with repeated keys. */
  readonly problems: readonly string[];
}

/**
 * Reads the first document of a text in YAML, as Go's decoder does.
 * @param aliasedLimit - the most characters that aliases may stand for. Go's decoder has no such limit, but the JSON
 * text contains these characters once for each alias.
 * @throws Error: it is malformed, too deep, or has too many aliases.
 */
export function readYaml(text: string, aliasedLimit: number): YamlBody {
  const lineCounter = new LineCounter();
  const customTags = (tags: Tags): Tags => [goMerge, ...goYamlTags(tags)];
  // Go ignores tags such as `!!omap`. The library would compare all keys of such a map with each other, in quadratic
  // time.
  const settings = { merge: true, resolveKnownTags: false, customTags, lineCounter };
  const document = parseFirstYamlDocument(text, 'the body', settings);
  const { version, explicit } = document.directives.yaml;
  if (explicit === true && version !== '1.1') throw refusal('found incompatible YAML document');
  const unknown = document.warnings.filter(({ code }) => code === 'BAD_DIRECTIVE');
  const [error] = [...document.errors, ...unknown];
  if (error !== undefined) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    throw new Error(`${error.message} at line ${line}, column ${col}`);
  }
  const resolver = new AliasResolver(aliasedLimit);
  resolver.resolve(document.contents);
  const json = JSON.stringify(document.toJS() ?? null);
  return { json, problems: repeatedKeys(document.contents, resolver.written, lineCounter) };
}

function refusal(problem: string): Error {
  return new Error(`error converting YAML to JSON: yaml: ${problem}`);
}

type Entry = Pick<Pair, 'key' | 'value'>;

/** A node with its size. The size includes the nodes that its aliases stand for. */
interface Resolved {
  readonly node: unknown;
  readonly nodes: number;
  /** The length of the scalars. */
  readonly characters: number;
  readonly depth: number;
}

/**
 * Replaces aliases by the nodes that they stand for, with the limits of Go's decoder. The library would search the
 * whole document for each alias.
 */
class AliasResolver {
  /** The last node with each anchor, and its size once the node has ended. */
  readonly #anchors = new Map<string, { readonly node: unknown } | Resolved>();
  #nodes = 0;
  #aliased = { nodes: 0, characters: 0 };
  readonly #limit: number;
  /** The pairs whose key or value was an alias, as they are in the text. */
  readonly written = new Map<Pair, Entry>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Replaces the aliases below `given`. @returns what replaces `given` itself */
  resolve(given: unknown): Resolved {
    this.#nodes++;
    if (isAlias(given)) return this.#target(given);
    const size = { nodes: 1, characters: 0, depth: 1 };
    const anchored = { node: given };
    if (isScalar(given) || isCollection(given)) {
      if (given.anchor !== undefined) this.#anchors.set(given.anchor, anchored);
    }
    const child = (one: unknown): unknown => {
      const { node, nodes, characters, depth } = this.resolve(one);
      size.nodes += nodes;
      size.characters += characters;
      size.depth = Math.max(size.depth, depth + 1);
      return node;
    };
    if (isScalar(given)) size.characters = given.source?.length ?? 0;
    else if (isCollection(given)) {
      for (const [index, item] of given.items.entries()) {
        if (isPair(item)) {
          const { key, value } = item;
          if (isAlias(key) || isAlias(value)) this.written.set(item, { key, value });
          Object.assign(item, { key: child(key), value: child(value) });
          if (isCollection(item.key)) throw refusal('invalid map key');
        } else given.items[index] = child(item);
      }
    }
    if (size.depth > depthLimit) throw refusal('exceeded max depth');
    return Object.assign(anchored, size);
  }

  #target({ source }: Alias): Resolved {
    const target = this.#anchors.get(source);
    if (target === undefined) throw refusal(`unknown anchor '${source}' referenced`);
    if (!('nodes' in target)) throw refusal(`anchor '${source}' value contains itself`);
    this.#nodes += target.nodes;
    this.#aliased.nodes += target.nodes;
    this.#aliased.characters += target.characters;
    const share = this.#aliased.nodes / this.#nodes;
    const isMuch = this.#aliased.nodes > 100 && this.#nodes > 1_000;
    const isTooMuch = isMuch && share > allowedShare(this.#nodes);
    if (isTooMuch || this.#aliased.characters > this.#limit) {
      throw refusal('document contains excessive aliasing');
    }
    return { ...target, nodes: target.nodes + 1 };
  }
}

const freeNodes = 400_000;
const manyNodes = 4_000_000;

/** Returns the share of the nodes that may come from aliases: 99%, and down to 10% in large documents. */
function allowedShare(nodes: number): number {
  const excess =
    (Math.min(Math.max(nodes, freeNodes), manyNodes) - freeNodes) / (manyNodes - freeNodes);
  return 0.99 - 0.89 * excess;
}

/**
 * Returns the problems of Go's decoder with repeated keys: each with the line of its value, or of its key if the
 * value is empty, inner ones first. Keys of a merged map (`<<`) count as keys of the map. The tree has no aliases.
 * @param written - the pairs that had aliases
 */
function repeatedKeys(
  root: unknown,
  written: ReadonlyMap<Pair, Entry>,
  lines: LineCounter,
): readonly string[] {
  const problems: string[] = [];
  const lineOf = ({ key, value }: Entry): number => {
    const [valueStart = 0, valueEnd = 0] = rangeOf(value);
    const [keyStart = 0] = rangeOf(key);
    return lines.linePos(valueStart === valueEnd ? keyStart : valueStart).line;
  };
  const visit = (node: unknown): void => {
    if (isSeq(node)) node.items.forEach(visit);
    if (isMap(node)) visitMap(node, new Set());
  };
  const visitMap = ({ items }: YAMLMap, names: Set<unknown>): void => {
    for (const pair of items) {
      const { key, value } = pair;
      // The library reads the key of a merge as a symbol.
      if (isScalar(key) && typeof key.value === 'symbol') {
        for (const source of sourcesOf(value)) if (isMap(source)) visitMap(source, names);
        continue;
      }
      visit(value);
      if (!isScalar(key)) continue;
      const name = keyOf(key);
      const shown = typeof key.value === 'string' ? quoted(key.value) : String(key.value);
      if (names.has(name)) {
        problems.push(`line ${lineOf(written.get(pair) ?? pair)}: key ${shown} already set in map`);
      }
      names.add(name);
    }
  };
  visit(root);
  return problems;
}

function rangeOf(node: unknown): readonly number[] {
  return (isNode(node) ? node.range : undefined) ?? [];
}

/** Returns what distinguishes a key from others in Go: 1 and 1.0 are different keys. */
function keyOf({ value, source = '' }: Scalar): unknown {
  const isFloat = typeof value === 'number' && /^[-+.0-9][^xX]*[.eE]|^[-+]?\./.test(source);
  return isFloat ? `float ${value}` : value;
}

/** Returns the maps that a merge names, in Go's order: the first one of a list overrides the others. */
function sourcesOf(merged: unknown): readonly unknown[] {
  return isSeq(merged) ? [...merged.items].reverse() : [merged];
}

/** Merges maps (`<<`) as Go does: in the order of the keys, so that a merge overrides the keys before it. */
const goMerge: ScalarTag = {
  ...{ tag: 'tag:yaml.org,2002:merge', default: 'key', test: /^<<$/, identify: () => false },
  resolve: () => Object.assign(new Scalar(Symbol('<<')), { addToJSMap: mergeInto }),
};

type MergeContext = NonNullable<Parameters<YAMLMap['toJSON']>[1]>;

function mergeInto(context: MergeContext, map: object, value: unknown): void {
  for (const source of sourcesOf(value)) {
    if (!isMap(source)) throw refusal('map merge requires map or sequence of maps as the value');
    for (const [name, one] of source.toJSON(null, context, Map) as Map<PropertyKey, unknown>) {
      // `map` is a `Map` while a merge source is read. Define members instead of assigning them, so that `__proto__`
      // becomes an ordinary key.
      const member = { value: one, writable: true, enumerable: true, configurable: true };
      if (map instanceof Map) map.set(name, one);
      else Object.defineProperty(map, name, member);
    }
  }
}
