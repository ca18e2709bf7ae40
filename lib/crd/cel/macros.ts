import { SyntaxIssue } from './expression.js';
import type {
  CallExpression,
  ComprehensionExpression,
  ComprehensionMacro,
  Expression,
} from './expression.js';

/**
 * Returns the expansion of a macro call; other calls are returned unchanged.
 * @throws SyntaxIssue
 */
export function expandMacro(call: CallExpression): Expression {
  const { name, target, args } = call;
  if (target === undefined) return name === 'has' && args.length === 1 ? expandHas(call) : call;
  const macro = macros[`${name}/${args.length}`];
  return macro === undefined ? call : (macro({ ...call, target }) ?? call);
}

type Method = CallExpression & { readonly target: Expression };

function expandHas({ at, args: [arg] }: CallExpression): Expression {
  if (arg?.type === 'select' && arg.mode === 'value') return { ...arg, at, mode: 'test' };
  throw new SyntaxIssue({ at: arg?.at ?? at, message: 'invalid argument to has() macro' });
}

function comprehension(
  macro: ComprehensionMacro,
  shape: { readonly variables: number; readonly filtered?: boolean },
): (call: Method) => ComprehensionExpression {
  return ({ at, target: range, args }) => {
    const problem =
      macro === 'sortBy' ? 'argument is not an identifier' : 'argument must be a simple name';
    const variables = args.slice(0, shape.variables).map((arg) => variableOf(arg, problem));
    const [name = '', second] = variables;
    if (name === second) {
      const where = args[1]?.at ?? at;
      throw new SyntaxIssue({ at: where, message: `duplicate variable name: ${name}` });
    }
    const rest = args.slice(shape.variables);
    const [filter, step] = shape.filtered === true ? rest : [undefined, rest[0]];
    if (step === undefined) throw new SyntaxIssue({ at, message: 'missing argument' });
    return { type: 'comprehension', at, macro, range, variables, filter, step };
  };
}

function sortBy(call: Method): ComprehensionExpression {
  const { at, type } = call.target;
  if (type !== 'literal' && type !== 'map' && type !== 'struct') return sorted(call);
  const targets = 'a list, identifier, comprehension, call or select expression';
  throw new SyntaxIssue({ at, message: `sortBy can only be applied to ${targets}` });
}

function optionalMap(flat: boolean): (call: Method) => Expression | undefined {
  return ({ at, target, args: [variable, body] }) => {
    if (variable === undefined || body === undefined) return undefined;
    const name = flat ? 'optFlatMap' : 'optMap';
    const problem = `${name}() variable name must be a simple identifier`;
    return { type: 'optionalMap', at, target, variable: variableOf(variable, problem), body, flat };
  };
}

function variableOf(arg: Expression, message: string): string {
  if (arg.type === 'identifier') return arg.name;
  throw new SyntaxIssue({ at: arg.at, message });
}

const one = { variables: 1 };
const two = { variables: 2 };
const sorted = comprehension('sortBy', one);

const macros: Readonly<Partial<Record<string, (call: Method) => Expression | undefined>>> = {
  'all/2': comprehension('all', one),
  'all/3': comprehension('all', two),
  'exists/2': comprehension('exists', one),
  'exists/3': comprehension('exists', two),
  'exists_one/2': comprehension('existsOne', one),
  'existsOne/3': comprehension('existsOne', two),
  'filter/2': comprehension('filter', one),
  'map/2': comprehension('map', one),
  'map/3': comprehension('map', { ...one, filtered: true }),
  'transformList/3': comprehension('transformList', two),
  'transformList/4': comprehension('transformList', { ...two, filtered: true }),
  'transformMap/3': comprehension('transformMap', two),
  'transformMap/4': comprehension('transformMap', { ...two, filtered: true }),
  'transformMapEntry/3': comprehension('transformMapEntry', two),
  'transformMapEntry/4': comprehension('transformMapEntry', { ...two, filtered: true }),
  'sortBy/2': sortBy,
  'optMap/2': optionalMap(false),
  'optFlatMap/2': optionalMap(true),
};
