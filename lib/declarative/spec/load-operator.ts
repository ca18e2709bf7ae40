import { LineCounter, isNode } from 'yaml';
import type { Document as YamlDocument } from 'yaml';
import { checkDepth, goYamlTags, isJsonObject, parseYamlDocuments } from '../../object/index.js';
import { asError } from '../../system/index.js';
import { compilePlan } from '../engine/compile-pipeline.js';
import type { PipelinePlan } from '../engine/compile-pipeline.js';
import type { ExpressionOptions } from '../expression/compiled.js';
import { compileContext } from '../spec-problem.js';
import type { SpecPath, SpecProblem } from '../spec-problem.js';
import { InvalidSpecError } from './invalid-spec-error.js';
import type { LocatedProblem } from './invalid-spec-error.js';
import type { ControllerSpec, OperatorSpec, SourceSpec } from './operator-spec.js';
import { readOperatorSpec } from './read-operator-spec.js';

/** An operator from a file. */
export interface LoadedOperator {
  /** The name of the `Operator` object; undefined: a bare list of controllers, which has no name. */
  readonly name: string | undefined;
  readonly spec: OperatorSpec;
  /** The name of the file. */
  readonly source: string;
  /** Adds the position in the file to a problem that is found later. */
  readonly locate: (problem: SpecProblem) => LocatedProblem;
}

/**
 * Reads every operator of a YAML text (`Operator` objects, lists of them, or `controllers:` alone) and
 * compiles its pipelines. Skips objects of other kinds, so that a file may also hold the input of the
 * operators.
 * @param source - the file name, for problems
 * @throws InvalidSpecError the text is invalid YAML, or an operator is invalid; the error has all problems
 * in the order of the file.
 */
export function loadOperators(text: string, source: string): readonly LoadedOperator[] {
  const lines = new LineCounter();
  const problems: LocatedProblem[] = [];
  const operators = documentsIn(text, { source, lines, problems }).flatMap((document) => {
    for (const { message, pos } of reportedErrors(document)) {
      const { line, col: column } = lines.linePos(pos[0]);
      // Strip the position and the quoted lines from the message.
      const said = message.replace(/,? (?:and again )?at line \d+, column \d+:[^]*$/, '');
      problems.push({ path: [], message: said, line, column });
    }
    return document.errors.length > 0 ? [] : readDocument(document, { source, lines, problems });
  });
  if (problems.length === 0 && operators.length === 0) {
    const message =
      'there is no operator: want a document with kind: Operator, or with controllers';
    problems.push({ path: [], message });
  }
  if (problems.length > 0) throw new InvalidSpecError(source, problems.toSorted(byPlace));
  return operators;
}

/** Errors in the YAML after which the parser reads on correctly. */
const separateErrors: readonly string[] = [
  'DUPLICATE_KEY',
  'TAG_RESOLVE_FAILED',
  'BAD_SCALAR_CONTENT',
  'BAD_DIRECTIVE',
];

/** Returns the errors up to the first one that makes the parser misread what follows. */
function reportedErrors({ errors }: YamlDocument.Parsed): YamlDocument.Parsed['errors'] {
  const misleading = errors.filter(({ code }) => !separateErrors.includes(code));
  const last = Math.min(...misleading.map(({ pos }) => pos[0]));
  return errors.filter(({ pos }) => pos[0] <= last);
}

/** Reports a text that nests too deeply, and returns no documents: parsers would recurse as deeply. */
function documentsIn(
  text: string,
  { source, lines, problems }: Reading,
): readonly YamlDocument.Parsed[] {
  try {
    const options = { merge: true, customTags: goYamlTags, lineCounter: lines } as const;
    return parseYamlDocuments(text, source, options);
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
  // The form of `kubectl get operators -o yaml`.
  const { kind, items } = value;
  if ((kind === 'List' || kind === 'OperatorList') && Array.isArray(items)) {
    return items.flatMap((item, index) => readValue(item, ['items', index], document, reading));
  }
  return readValue(value, [], document, reading);
}

/**
 * Returns the parsed value of a YAML document. YAML aliases that are invalid or expand too far are detected only
 * here.
 */
function valueOf(document: YamlDocument.Parsed, { source, problems }: Reading): unknown {
  try {
    return checkDepth(document.toJS(), source);
  } catch (error) {
    problems.push({ path: [], message: asError(error).message });
    return undefined;
  }
}

function readValue(
  value: unknown,
  at: SpecPath,
  document: YamlDocument.Parsed,
  { source, lines, problems }: Reading,
): LoadedOperator[] {
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

/** Compares two problems by position in the file. */
function byPlace(one: LocatedProblem, other: LocatedProblem): number {
  const lines = (one.line ?? 0) - (other.line ?? 0);
  return lines === 0 ? (one.column ?? 0) - (other.column ?? 0) : lines;
}

/** Returns the position of a path, or of its nearest existing parent. */
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

/**
 * Compiles the pipelines of an operator to find their problems. Skips a controller with an unreadable
 * source, because the input of its pipeline is unknown until the source is corrected.
 * @param problems - the problems of reading; those found here are added, one per path
 */
function checkControllers({ controllers }: OperatorSpec, problems: SpecProblem[]): void {
  const reported = new Set(problems.map(({ path }) => JSON.stringify(path)));
  for (const [place, controller] of controllers.entries()) {
    const { sources } = controller;
    if (sources.length === 0 || sources.some(({ kind }) => kind === '')) continue;
    const found = compileController(controller, pathOfController(place)).problems;
    problems.push(...found.filter(({ path }) => !reported.has(JSON.stringify(path))));
  }
}

export function pathOfController(place: number): SpecPath {
  return ['controllers', place];
}

export function problemsOfController(
  problems: readonly SpecProblem[],
  place: number,
): readonly SpecProblem[] {
  return problems.filter(({ path }) => path[0] === 'controllers' && path[1] === place);
}

/** A source whose documents go through the pipeline. */
export interface PipelineInput {
  /** The name in the pipeline. */
  readonly name: string;
  readonly spec: SourceSpec;
}

export interface CompiledController {
  /** undefined: the controller has problems. */
  readonly plan: PipelinePlan | undefined;
  readonly inputs: readonly PipelineInput[];
  readonly problems: readonly SpecProblem[];
  /** Problems that do not keep the controller from running. */
  readonly warnings: readonly SpecProblem[];
}

/**
 * Compiles the pipeline of a controller. A `Periodic` source that is combined with other sources only triggers:
 * it has no document and no part in a join. Alone it has a document, as a `OneShot` source does.
 * @param specPath - the path of `spec` in its file, for problems
 */
export function compileController(
  spec: ControllerSpec,
  specPath: SpecPath,
  options: ExpressionOptions = {},
): CompiledController {
  const places = placesOfInputs(spec.sources);
  const sources = places.flatMap((place) => spec.sources[place] ?? []);
  const found: SpecProblem[] = [];
  const context = compileContext(found);
  const plan = compilePlan(spec.pipeline, sources, { ...options, context });
  const located = (problem: SpecProblem): SpecProblem => ({
    ...problem,
    path: [...specPath, ...inAllSources(problem.path, places)],
  });
  return {
    plan,
    inputs: sources.map((source) => ({ name: source.as ?? source.kind, spec: source })),
    problems: found.map(located),
    warnings: (plan?.warnings ?? []).map(located),
  };
}

function placesOfInputs(sources: readonly SourceSpec[]): readonly number[] {
  const places = [...sources.keys()];
  const inputs = places.filter((place) => sources[place]?.type !== 'Periodic');
  return inputs.length > 0 ? inputs : places;
}

/** Replaces an index among the pipeline's inputs in a path by the index in the `sources` of the specification. */
function inAllSources(path: SpecPath, places: readonly number[]): SpecPath {
  const [first, place, ...rest] = path;
  if (first !== 'sources' || typeof place !== 'number') return path;
  return [first, places[place] ?? place, ...rest];
}
