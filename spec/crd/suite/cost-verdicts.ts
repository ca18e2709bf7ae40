import type { Client } from '../../../lib/client/client.js';
import { compileCel } from '../../../lib/crd/cel/program.js';
import { validateStructure } from '../../../lib/crd/definition/schema-structure.js';
import { sizesBelow } from '../../../lib/crd/rules/rule-budget.js';
import { schemaSize } from '../../../lib/crd/rules/schema-size.js';
import { schemaType } from '../../../lib/crd/rules/schema-type.js';
import { FieldErrors } from '../../../lib/crd/validation/field-errors.js';
import { isApiError } from '../../../lib/object/api-error.js';
import type { StatusCause } from '../../../lib/object/api-error.js';
import type { Schema } from '../../../lib/object/schema.js';
import { costDefinitions, roomyExpressions, roomyScene } from './cost-cases.js';

/** Results of a server about the cost of rules. */
export interface CostVerdicts {
  /** Causes for each definition; empty if accepted. */
  readonly definitions: Readonly<Record<string, readonly string[]>>;
  /** For each expression, how far its estimated cost exceeds the budget, with a certain number of values. */
  readonly expressions: Readonly<Record<string, string>>;
}

/** Creates a CRD with a schema, whose name in causes does not depend on the server. */
function definitionOf(schema: Schema, group: string): object {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `costs.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Cost', plural: 'costs' },
      versions: [version],
    },
  };
}

/** Creates a schema with `count` copies of the scene, each with the rule. */
function repeated(rule: string, count: number): Schema {
  const items: Schema = { ...roomyScene, 'x-kubernetes-validations': [{ rule }] };
  const list: Schema = { type: 'array', maxItems: count, items };
  const spec: Schema = { type: 'object', properties: { list } };
  return { type: 'object', properties: { spec } };
}

/** Returns the cost that the engine of `lib/crd/cel` estimates for an expression on the scene. */
function estimated(expression: string): number {
  const [type, size] = [schemaType(roomyScene, 'selfType'), schemaSize(roomyScene, false)];
  if (type === undefined || size === undefined) throw new Error('the scene has no type');
  const variables = new Map([['self', type]]);
  return compileCel(expression, variables).estimate(sizesBelow(size));
}

/**
 * Returns a number of values whose cost is 20% above the limit. Messages then show all digits of the cost.
 */
export function tellingCount(expression: string): number {
  return Math.max(1, Math.ceil(12_000_000 / Math.max(1, estimated(expression))));
}

type Judge = (schema: Schema) => Promise<readonly StatusCause[]>;

async function verdicts(judge: Judge, counts: ReadonlyMap<string, number>): Promise<CostVerdicts> {
  const definitions: Record<string, readonly string[]> = {};
  for (const [title, schema] of Object.entries(costDefinitions)) {
    const causes = await judge(schema);
    definitions[title] = causes.map(
      ({ field = '', message = '', reason = '' }) => `${reason} ${field}: ${message}`,
    );
  }
  const expressions: Record<string, string> = {};
  for (const expression of roomyExpressions) {
    const count = counts.get(expression) ?? 1;
    const causes = await judge(repeated(expression, count));
    expressions[expression] = `${count} values: ${factorOf(causes)}`;
  }
  return { definitions, expressions };
}

function factorOf(causes: readonly StatusCause[]): string {
  const [message = 'accepted'] = causes.map((cause) => cause.message ?? '');
  return /estimated rule cost exceeds budget by factor of (.*) \(/.exec(message)?.[1] ?? message;
}

/** Returns the results of a server. */
export function serverCosts(
  client: Client,
  group: string,
  counts: ReadonlyMap<string, number>,
): Promise<CostVerdicts> {
  return verdicts(async (schema) => {
    try {
      await client.create(definitionOf(schema, group) as never, { dryRun: true });
      return [];
    } catch (error) {
      if (!isApiError(error) || error.status !== 422) throw error;
      return error.causes;
    }
  }, counts);
}

/** Returns the results of the check in this package, without a server. */
export function localCosts(counts: ReadonlyMap<string, number>): Promise<CostVerdicts> {
  return verdicts((schema) => {
    const errors = new FieldErrors();
    validateStructure(schema, { field: 'spec.validation.openAPIV3Schema', errors });
    return Promise.resolve(errors.causes);
  }, counts);
}

/** Returns the recorded counts, so that a changed estimate does not change them. */
export function recordedCounts({ expressions }: CostVerdicts): ReadonlyMap<string, number> {
  const entries = Object.entries(expressions);
  return new Map(entries.map(([expression, text]) => [expression, Number.parseInt(text, 10)]));
}
