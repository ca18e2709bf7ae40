import { deepFreeze } from '../../object/deep-freeze.js';
import { isJsonObject } from '../../object/json.js';
import type { CompileContext } from '../spec-problem.js';
import { type Compiled, constant, failed } from './compiled.js';

/** Compiles a literal value without evaluating its content. Reports values that are not JSON. */
export function compileLiteral(source: unknown, context: CompileContext): Compiled {
  const found: { problem: boolean } = { problem: false };
  const copy = copyOf(source, context, found);
  return found.problem ? failed : constant(deepFreeze(copy));
}

// Copy, because the compiled value is frozen and the source belongs to the caller.
function copyOf(source: unknown, context: CompileContext, found: { problem: boolean }): unknown {
  if (source === null || typeof source === 'boolean' || typeof source === 'string') return source;
  if (typeof source === 'number' && Number.isFinite(source)) return source;
  if (Array.isArray(source)) {
    return source.map((item, index) => copyOf(item, context.at(index), found));
  }
  if (isJsonObject(source)) {
    const members = Object.entries(source).map(
      ([name, value]) => [name, copyOf(value, context.at(name), found)] as const,
    );
    return Object.fromEntries(members);
  }
  context.report({ message: `wants JSON, not ${describe(source)}` });
  found.problem = true;
  return null;
}

function describe(source: unknown): string {
  return typeof source === 'number' || typeof source === 'bigint'
    ? String(source)
    : `a value of type ${typeof source}`;
}
