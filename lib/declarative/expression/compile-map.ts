import { deepFreeze } from '../../object/deep-freeze.js';
import { isJsonObject, setMember } from '../../object/json.js';
import type { CompileContext } from '../spec-problem.js';
import { type Compiled, type Compiler, constant, dynamic, failed } from './compiled.js';
import { readPath } from './compile-path.js';
import { DataError } from './data-error.js';
import type { Expression } from './expression.js';
import { compilePlaceSetter, unsettable } from './json-path/set-at-path.js';

type MutableMap = Record<string, unknown>;

/** Adds one entry to the map being built; returns the resulting map. */
type Entry = (built: MutableMap, document: Readonly<MutableMap>, element: unknown) => MutableMap;

/** Compiles a map that is not an operator: its keys are names or setters, its values expressions. */
export function compileMap(
  source: Readonly<Record<string, unknown>>,
  compiler: Compiler,
  context: CompileContext,
): Compiled {
  const names = Object.keys(source);
  const values = names.map((name) => compiler.compile(source[name], context.at(name)));
  const entries = names.map((name, index) =>
    compileEntry(name, values[index] ?? failed, context.at(name)),
  );
  if (values.some((value) => value.failed)) return failed;
  if (!entries.every((entry) => entry !== undefined)) return failed;
  const build: Expression = (document, element) =>
    entries.reduce((built, entry) => entry(built, document, element), {});
  const allConstant =
    values.every((value) => value.constant) && !names.some((name) => name.startsWith('$'));
  return allConstant ? constant(deepFreeze(build({}))) : dynamic(build, 'map');
}

function compileEntry(name: string, value: Compiled, context: CompileContext): Entry | undefined {
  const { evaluate } = value;
  if (!name.startsWith('$')) {
    return (built, document, element) => {
      setMember(built, name, evaluate(document, element) ?? null);
      return built;
    };
  }
  const path = readPath(name, context);
  if (path === undefined) return undefined;
  const problem = path.root === '$$' ? '$$ is not what is built' : unsettable(path);
  if (problem !== undefined) {
    context.report({ message: `${JSON.stringify(name)} is no setter: ${problem}` });
    return undefined;
  }
  if (path.segments.length === 0) return copyEntry(name, value, context);
  const set = compilePlaceSetter(path, name);
  return (built, document, element) =>
    set(built, evaluate(document, element) ?? null, document) as MutableMap;
}

/** Compiles `"$."`, which copies every member of a map. */
function copyEntry(name: string, value: Compiled, context: CompileContext): Entry | undefined {
  if (value.type !== undefined && value.type !== 'map') {
    context.report({ message: `${name} copies a map, not a ${value.type}` });
    return undefined;
  }
  return (built, document, element) => {
    const copied = value.evaluate(document, element);
    if (!isJsonObject(copied)) throw new DataError(name, 'copies a map', copied ?? null);
    return { ...built, ...copied };
  };
}
