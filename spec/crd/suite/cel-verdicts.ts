import type { Client } from '../../../lib/client/client.js';
import { InvalidDefinitionError, defineResource, s } from '../../../lib/crd/index.js';
import { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import type { SchemaRule } from '../../../lib/object/schema.js';
import { isApiError } from '../../../lib/object/api-error.js';
import type { StatusCause } from '../../../lib/object/api-error.js';
import { celExpressions } from './cel-expressions.js';
import { sceneObject, sceneSpec } from './cel-scene.js';

/** Result of a server for each expression: `true`, `false` or an error. */
export type Verdicts = Readonly<Record<string, string>>;

/** Number of expressions in one schema: the server limits the estimated cost of all rules together. */
export const celChunk = 250;

/** Creates rules whose message contains the index of the expression. */
function rulesFor(expressions: readonly string[]): SchemaRule[] {
  return expressions.map((rule, index) => ({ rule, message: `#${index}#` }));
}

/** Defines a resource with these expressions as rules of its spec. */
export function sceneResource(expressions: readonly string[], group: string) {
  const spec = s.typed<object>({ ...sceneSpec, 'x-kubernetes-validations': rulesFor(expressions) });
  return defineResource({
    group,
    kind: 'Scene',
    versions: [{ name: 'v1', schema: s.object({ spec }) }],
  });
}

/** Removes the parts of a message that differ between runs. */
export function comparable(message: string): string {
  return message.replaceAll(/selfType\d+/g, 'selfType');
}

/** Creates a CRD with the expressions as rules, even if they do not compile. */
export function sceneDefinition(expressions: readonly string[], group: string): object {
  const crd = structuredClone(sceneResource([], group).crd) as unknown as {
    spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: object } } } }[] };
  };
  const spec = crd.spec.versions[0]?.schema.openAPIV3Schema.properties.spec;
  Object.assign(spec ?? {}, { 'x-kubernetes-validations': rulesFor(expressions) });
  return crd;
}

/** Returns the results of a server for the expressions of the table. */
export async function serverVerdicts(
  client: Client,
  group: string,
  all: readonly string[] = celExpressions,
): Promise<Verdicts> {
  const refused = new Map<string, string>();
  for (const expression of all) {
    const crd = sceneDefinition([expression], group) as never;
    const [cause] = await causesOf(() => client.create(crd, { dryRun: true }));
    if (cause !== undefined) refused.set(expression, refusal(cause));
  }
  const compiling = all.filter((expression) => !refused.has(expression));
  const failed = await evaluated(client, compiling, group);
  return Object.fromEntries(all.map((one) => [one, refused.get(one) ?? failed.get(one) ?? 'true']));
}

async function evaluated(
  client: Client,
  expressions: readonly string[],
  group: string,
): Promise<ReadonlyMap<string, string>> {
  const failed = new Map<string, string>();
  const resource = sceneResource([], group);
  const crd = await client.create(sceneDefinition(expressions, group) as CustomResourceDefinition);
  try {
    const object = {
      apiVersion: resource.apiVersion,
      kind: resource.kind,
      metadata: { name: 'one', namespace: 'default' },
      spec: sceneObject,
    };
    for (const cause of await causesOf(() => whenServed(() => client.create(object as never)))) {
      failed.set(expressionOf(cause, expressions), verdictOf(cause));
    }
  } finally {
    await client.delete(CustomResourceDefinition, { name: crd.metadata.name ?? '' });
  }
  return failed;
}

async function whenServed<T>(create: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await create();
    } catch (error) {
      const code = isApiError(error) ? error.status : 0;
      if (code === 422) throw error;
    }
  }
}

async function causesOf(write: () => Promise<unknown>): Promise<readonly StatusCause[]> {
  try {
    await write();
    return [];
  } catch (error) {
    if (!isApiError(error) || error.status !== 422) throw error;
    return error.causes;
  }
}

function expressionOf({ message = '' }: StatusCause, expressions: readonly string[]): string {
  const index = /#(\d+)#$/.exec(message)?.[1];
  return expressions[Number(index)] ?? message;
}

/** Returns the result of a rule: only its message if false, an error before it if it failed. */
export function verdictOf({ message = '' }: StatusCause): string {
  const [, why = ''] = /^Invalid value(?:: "object")?: (.*?)#\d+#$/s.exec(message) ?? [];
  return why === '' ? 'false' : why.trim();
}

/** Returns why an expression does not compile: the first line of each error. */
export function refusal({ message = '' }: StatusCause): string {
  const lines = message.split('\n').filter((line) => line.includes('ERROR: '));
  if (lines.length === 0) return `refused: ${message.split(': ').at(-1) ?? ''}`;
  const errors = lines.map((line) => line.slice(line.indexOf('ERROR: ')));
  // The tokens that ANTLR lists as expected are not reproduced.
  if (errors.some((line) => line.includes('Syntax error'))) return 'Syntax error';
  return comparable(errors.join('\n'));
}

/** Returns the results of the client-side validator for the expressions. */
export function localVerdicts(all: readonly string[] = celExpressions): Verdicts {
  const refused = new Map<string, string>();
  for (const expression of all) {
    try {
      sceneResource([expression], 'local.example.com').schema();
    } catch (error) {
      if (!(error instanceof InvalidDefinitionError)) throw error;
      const [problem] = error.problems;
      refused.set(expression, refusal({ message: problem?.message ?? '' }));
    }
  }
  const compiling = all.filter((expression) => !refused.has(expression));
  const resource = sceneResource(compiling, 'local.example.com');
  const object = {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { name: 'one' },
    spec: sceneObject,
  };
  const failed = new Map(
    resource.validate(object).map((cause) => [expressionOf(cause, compiling), verdictOf(cause)]),
  );
  return Object.fromEntries(all.map((one) => [one, refused.get(one) ?? failed.get(one) ?? 'true']));
}
