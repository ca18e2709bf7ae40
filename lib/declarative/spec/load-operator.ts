import { LineCounter, isNode } from 'yaml';
import type { Document as YamlDocument } from 'yaml';
import { checkDepth } from '../../object/depth.js';
import { isJsonObject } from '../../object/json.js';
import { parseYamlDocuments } from '../../object/yaml-documents.js';
import { asError } from '../../system/as-error.js';
import { compileContext } from '../spec-problem.js';
import type { SpecPath, SpecProblem } from '../spec-problem.js';
import { checkControllers } from './check-controllers.js';
import { InvalidSpecError } from './invalid-spec-error.js';
import type { LocatedProblem } from './invalid-spec-error.js';
import type { OperatorSpec } from './operator-spec.js';
import { readOperatorSpec } from './read-operator-spec.js';

/** An operator as a file has it. */
export interface LoadedOperator {
  /** Of an `Operator` object its name; undefined: a bare list of controllers has none. */
  readonly name: string | undefined;
  readonly spec: OperatorSpec;
  /** The name of the file. */
  readonly source: string;
  /** Where something stands in the file, for problems that are found later. */
  readonly locate: (problem: SpecProblem) => LocatedProblem;
}

/**
 * Reads every operator of a YAML text: `Operator` objects, lists of them, or `controllers:` alone, and
 * compiles the pipelines of its controllers to see that they can be run. Objects of other kinds are left
 * out, so that a file may have what the operator works on beside it.
 * @param source - the name of the file, for problems
 * @throws InvalidSpecError the text is no YAML, or an operator is wrong; it has everything that is, in
 * the order of the file.
 */
export function loadOperators(text: string, source: string): readonly LoadedOperator[] {
  const lines = new LineCounter();
  const problems: LocatedProblem[] = [];
  const operators = documentsIn(text, { source, lines, problems }).flatMap((document) => {
    for (const { message, pos } of document.errors) {
      const { line, col: column } = lines.linePos(pos[0]);
      // The text has the place once more, and the lines around it.
      const said = message.replace(/,? (?:and again )?at line \d+, column \d+:[^]*$/, '');
      problems.push({ path: [], message: said, line, column });
    }
    return document.errors.length > 0 ? [] : readDocument(document, { source, lines, problems });
  });
  if (problems.length === 0 && operators.length === 0) {
    const message = 'there is no operator: want kind: Operator, or controllers';
    problems.push({ path: [], message });
  }
  if (problems.length > 0) throw new InvalidSpecError(source, problems.toSorted(byPlace));
  return operators;
}

/** A text that nests too deeply has no documents: parsers would recurse as deep. */
function documentsIn(
  text: string,
  { source, lines, problems }: Reading,
): readonly YamlDocument.Parsed[] {
  try {
    return parseYamlDocuments(text, source, { lineCounter: lines });
  } catch (error) {
    problems.push({ path: [], message: asError(error).message });
    return [];
  }
}

interface Reading {
  readonly source: string;
  readonly lines: LineCounter;
  readonly problems: LocatedProblem[];
}

function readDocument(document: YamlDocument.Parsed, reading: Reading): LoadedOperator[] {
  const value = valueOf(document, reading);
  if (!isJsonObject(value)) return [];
  // As `kubectl get operators -o yaml` writes them.
  const { kind, items } = value;
  if ((kind === 'List' || kind === 'OperatorList') && Array.isArray(items)) {
    return items.flatMap((item, index) => readValue(item, ['items', index], { document, reading }));
  }
  return readValue(value, [], { document, reading });
}

/** An alias that means nothing, or far too much, is found out only here. */
function valueOf(document: YamlDocument.Parsed, { source, problems }: Reading): unknown {
  try {
    return checkDepth(document.toJS(), source);
  } catch (error) {
    problems.push({ path: [], message: asError(error).message });
    return undefined;
  }
}

interface Place {
  readonly document: YamlDocument.Parsed;
  readonly reading: Reading;
}

function readValue(value: unknown, at: SpecPath, { document, reading }: Place): LoadedOperator[] {
  const { source, lines, problems } = reading;
  if (!isJsonObject(value)) return [];
  const isObject =
    at.length > 0 || value['kind'] !== undefined || value['apiVersion'] !== undefined;
  if (isObject && !isOperator(value)) return [];
  const inside: SpecPath = isObject ? [...at, 'spec'] : [];
  const found: SpecProblem[] = [];
  const spec = readOperatorSpec(isObject ? value['spec'] : value, compileContext(found));
  checkControllers(spec, found);
  const locate = (problem: SpecProblem): LocatedProblem => {
    const path = [...inside, ...problem.path];
    return { ...problem, path, ...positionOf(document, path, lines) };
  };
  problems.push(...found.map(locate));
  const name = isObject ? nameOf(value['metadata']) : undefined;
  return [{ name, spec, source, locate }];
}

function isOperator({ apiVersion, kind }: Readonly<Record<string, unknown>>): boolean {
  return (
    kind === 'Operator' &&
    typeof apiVersion === 'string' &&
    apiVersion.startsWith('dcontroller.io/')
  );
}

function nameOf(metadata: unknown): string | undefined {
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** In the order in which somebody reads the file. */
function byPlace(one: LocatedProblem, other: LocatedProblem): number {
  const lines = (one.line ?? 0) - (other.line ?? 0);
  return lines === 0 ? (one.column ?? 0) - (other.column ?? 0) : lines;
}

/** Where a path stands; where nothing stands there, the nearest thing around it. */
function positionOf(
  document: YamlDocument.Parsed,
  path: SpecPath,
  lines: LineCounter,
): { line?: number; column?: number } {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (!isNode(node) || node.range === null || node.range === undefined) continue;
    const { line, col } = lines.linePos(node.range[0]);
    return { line, column: col };
  }
  return {};
}
