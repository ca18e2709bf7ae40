import { type Compiled, failed, type OperatorDefinition, type Site } from '../compiled.js';
import { readPath } from '../compile-path.js';
import { compilePlaceSetter, unsettable } from '../json-path/set-at-path.js';
import type { Expression } from '../expression.js';
import { fold } from './arguments.js';

/** `@set`: returns a value with another value set at a literal path. */
export const setOperator: OperatorDefinition = { name: '@set', compile: compileSet };

function compileSet(argument: unknown, site: Site): Compiled {
  const { name, context, compiler } = site;
  if (!Array.isArray(argument) || argument.length !== 3) {
    const count = Array.isArray(argument) ? argument.length : 1;
    context.report({ message: `${name} wants 3 operands, not ${count}` });
    return failed;
  }
  const [source, path, value] = argument as readonly unknown[];
  const changed = compiler.compile(source, context.at(0));
  const put = compiler.compile(value, context.at(2));
  const set = compilePath(path, site);
  if (set === undefined) return failed;
  const run: Expression = (document, element) => {
    const whole = changed.evaluate(document, element) ?? null;
    return set(whole, put.evaluate(document, element) ?? null, whole);
  };
  return fold(run, [changed, put], { site });
}

function compilePath(
  path: unknown,
  { name, context }: Site,
): ReturnType<typeof compilePlaceSetter> | undefined {
  const at = context.at(1);
  if (typeof path !== 'string' || !path.startsWith('$')) {
    at.report({ message: `${name} wants a JSONPath within the value, for example "$.port"` });
    return undefined;
  }
  const read = readPath(path, at);
  if (read === undefined) return undefined;
  const problem = read.root === '$$' ? 'within the value it begins with $' : unsettable(read);
  if (problem === undefined) return compilePlaceSetter(read, name);
  at.report({ message: `${JSON.stringify(path)} is no setter: ${problem}` });
  return undefined;
}
