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

/** What a server says of what rules cost. */
export interface CostVerdicts {
  /** The causes for each definition; none: it is accepted. */
  readonly definitions: Readonly<Record<string, readonly string[]>>;
  /** By how much the estimate for so many values is over the budget. */
  readonly expressions: Readonly<Record<string, string>>;
}

/** A CRD with a schema; two servers name it the same way in causes. */
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

/** A schema of `count` times the scene, each with the rule. */
function repeated(rule: string, count: number): Schema {
  const items: Schema = { ...roomyScene, 'x-kubernetes-validations': [{ rule }] };
  const list: Schema = { type: 'array', maxItems: count, items };
  const spec: Schema = { type: 'object', properties: { list } };
  return { type: 'object', properties: { spec } };
}

/** What our engine takes an expression on the scene to cost. */
function estimated(expression: string): number {
  const [type, size] = [schemaType(roomyScene, 'selfType'), schemaSize(roomyScene, false)];
  if (type === undefined || size === undefined) throw new Error('the scene has no type');
  const variables = new Map([['self', type]]);
  return compileCel(expression, variables).estimate(sizesBelow(size));
}

/** As many values as make a rule cost a fifth more than allowed: then messages show each digit. */
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

/** What a server says. */
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

/** What our own check says, without a server. */
export function localCosts(counts: ReadonlyMap<string, number>): Promise<CostVerdicts> {
  return verdicts((schema) => {
    const errors = new FieldErrors();
    validateStructure(schema, { field: 'spec.validation.openAPIV3Schema', errors });
    return Promise.resolve(errors.causes);
  }, counts);
}

/** The counts that were recorded: an estimate that changes must not choose others. */
export function recordedCounts({ expressions }: CostVerdicts): ReadonlyMap<string, number> {
  const entries = Object.entries(expressions);
  return new Map(entries.map(([expression, text]) => [expression, Number.parseInt(text, 10)]));
}
