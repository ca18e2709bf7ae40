import { isJsonObject } from '../../object/index.js';

type Step =
  | { readonly type: 'member'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'slice'; readonly start: number; readonly end: number; readonly every: number }
  | { readonly type: 'all' }
  // A step that finds nothing: without it, the path would show the parent's value.
  | { readonly type: 'unsupported' }
  | { readonly type: 'filter'; readonly path: readonly Step[]; readonly value: string };

/** A compiled JSON path of kubectl's dialect, as printer columns use it. */
export type JsonPath = readonly Step[];

const stepForm =
  /\[\s*'((?:[^'\\]|\\.)*)'\s*\]|\[\s*"((?:[^"\\]|\\.)*)"\s*\]|\[(-?\d+)\]|(?:\.?\[?\*\]?)|\[\?\(\s*@((?:\.[-\w]+)+)\s*==\s*(['"])(.*?)\5\s*\)\]|\.((?:[^.[\\]|\\.)+)|\[(-?\d*):(-?\d*)(?::(\d+))?\]/y;

/** Compiles a path such as `.status.conditions[?(@.type=="Ready")].status`. */
export function compileJsonPath(text: string): JsonPath {
  const source = text
    .replace(/^\{(.*)\}$/, '$1')
    .replace(/^\$/, '')
    .trim();
  const steps: Step[] = [];
  // A separate instance: a filter compiles its own path within this loop.
  const form = new RegExp(stepForm);
  let end = source === '.' ? 1 : 0;
  while (end < source.length) {
    const match = form.exec(source);
    if (match === null) return [...steps, { type: 'unsupported' }];
    steps.push(stepOf(match));
    end = form.lastIndex;
  }
  return steps;
}

function stepOf(match: RegExpExecArray): Step {
  const [, single, double, index, path, , value, plain, start, end = '', every] = match;
  if (index !== undefined) return { type: 'index', index: Number(index) };
  if (path !== undefined && value !== undefined) {
    return { type: 'filter', path: compileJsonPath(path), value };
  }
  if (start !== undefined) {
    const last = end === '' ? Infinity : Number(end);
    return { type: 'slice', start: Number(start), end: last, every: Number(every ?? 1) };
  }
  const name = single ?? double ?? plain;
  if (name === undefined) return { type: 'all' };
  return { type: 'member', name: name.replaceAll(/\\(.)/g, '$1') };
}

/** Returns the values at a path. */
export function readJsonPath(value: unknown, path: JsonPath): readonly unknown[] {
  return path.reduce<readonly unknown[]>(
    (values, step) => values.flatMap((one) => next(one, step)),
    [value],
  );
}

function next(value: unknown, step: Step): readonly unknown[] {
  switch (step.type) {
    case 'member':
      return isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'index': {
      const item: unknown = Array.isArray(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case 'slice':
      return Array.isArray(value) ? sliceOf(value, step) : [];
    case 'unsupported':
      return [];
    case 'all':
      if (Array.isArray(value)) return value as unknown[];
      return isJsonObject(value) ? Object.values(value) : [];
    case 'filter':
      if (!Array.isArray(value)) return [];
      return value.filter((item: unknown) =>
        readJsonPath(item, step.path).some((found) => String(found) === step.value),
      );
  }
}

/** Returns part of a list; nothing if the list is shorter, as kubectl. */
function sliceOf(
  list: readonly unknown[],
  { start, end, every }: Extract<Step, { type: 'slice' }>,
): readonly unknown[] {
  const { length } = list;
  const first = start < 0 ? start + length : start;
  const last = end === Infinity ? length : end < 0 ? end + length : end;
  if (first < 0 || last < first || last > length) return [];
  return list.slice(first, last).filter((_, index) => index % every === 0);
}
