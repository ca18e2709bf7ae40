import { isJsonObject } from '../../object/index.js';

type Step =
  | { readonly type: 'member'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'all' }
  | { readonly type: 'filter'; readonly path: readonly Step[]; readonly value: string };

/** A compiled JSON path of kubectl's dialect, as printer columns use it. */
export type JsonPath = readonly Step[];

const stepForm =
  /\.([A-Za-z_$][-\w$/]*)|\[\s*'((?:[^'\\]|\\.)*)'\s*\]|\[\s*"((?:[^"\\]|\\.)*)"\s*\]|\[(-?\d+)\]|(?:\.?\[?\*\]?)|\[\?\(\s*@((?:\.[-\w]+)+)\s*==\s*(['"])(.*?)\6\s*\)\]|\.((?:[^.[\\]|\\.)+)/y;

/** Compiles a path such as `.status.conditions[?(@.type=="Ready")].status`. */
export function compileJsonPath(text: string): JsonPath {
  const source = text.replace(/^\{(.*)\}$/, '$1').replace(/^\$/, '');
  const steps: Step[] = [];
  // A separate instance: a filter compiles its own path within this loop.
  const form = new RegExp(stepForm);
  for (let match = form.exec(source); match !== null; match = form.exec(source)) {
    steps.push(stepOf(match));
    if (form.lastIndex >= source.length) break;
  }
  return steps;
}

function stepOf(match: RegExpExecArray): Step {
  const [, plain, single, double, index, path, , value, escaped] = match;
  if (index !== undefined) return { type: 'index', index: Number(index) };
  if (path !== undefined && value !== undefined) {
    return { type: 'filter', path: compileJsonPath(path), value };
  }
  const name = plain ?? single ?? double ?? escaped;
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
