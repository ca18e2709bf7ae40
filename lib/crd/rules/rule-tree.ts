import type { Schema } from '../../object/schema.js';
import type { CelType } from '../cel/types.js';
import { schemaType, withTypeAndMeta } from './schema-type.js';

/** The parts of a schema that have rules; validation skips all others. */
export interface RuleTree {
  /** The schema of the value. */
  readonly schema: Schema;
  /** The schema that holds the rules: `schema` or one of its `allOf`. */
  readonly own: Schema;
  /** The type of `self`. */
  readonly type: CelType | undefined;
  readonly properties: ReadonlyMap<string, RuleTree>;
  readonly items: RuleTree | undefined;
  readonly additionalProperties: RuleTree | undefined;
  readonly allOf: readonly RuleTree[];
}

const trees = new WeakMap<Schema, { readonly tree: RuleTree | undefined }>();

/** Returns the rules of a schema; undefined without rules. Cached per schema. */
export function ruleTree(schema: Schema, isRoot: boolean): RuleTree | undefined {
  const known = trees.get(schema);
  if (known !== undefined) return known.tree;
  const tree = hasRules(schema) ? treeOf(schema, schema, isRoot) : undefined;
  trees.set(schema, { tree });
  return tree;
}

function hasRules(schema: Schema, path: readonly Schema[] = []): boolean {
  if (path.includes(schema)) return false;
  const inner = [...path, schema];
  const { properties = {}, items, additionalProperties, allOf = [] } = schema;
  return (
    (schema['x-kubernetes-validations'] ?? []).length > 0 ||
    Object.values(properties).some((one) => hasRules(one, inner)) ||
    (items !== undefined && hasRules(items, inner)) ||
    (typeof additionalProperties === 'object' && hasRules(additionalProperties, inner)) ||
    allOf.some((one) => hasRules(one, inner))
  );
}

/** @param own - the schema with the rules; `schema` is the structural one that defines the value */
function treeOf(own: Schema, schema: Schema, isRoot: boolean): RuleTree | undefined {
  if (!hasRules(own)) return undefined;
  const child = (part: Schema | undefined, full: Schema | undefined) => {
    if (part === undefined || full === undefined) return undefined;
    return treeOf(part, full, isEmbedded(full));
  };
  const properties = new Map<string, RuleTree>();
  for (const [member, part] of Object.entries(own.properties ?? {})) {
    const tree = child(part, schema.properties?.[member]);
    if (tree !== undefined) properties.set(member, tree);
  }
  return {
    schema: isRoot ? withTypeAndMeta(schema) : schema,
    own,
    // `self` is the root of each rule.
    type: schemaType(schema, 'selfType', isRoot),
    properties,
    items: child(own.items, schema.items),
    additionalProperties: child(
      schemaIn(own.additionalProperties),
      schemaIn(schema.additionalProperties),
    ),
    allOf: (own.allOf ?? []).flatMap((part) => treeOf(part, schema, isRoot) ?? []),
  };
}

function isEmbedded(schema: Schema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true;
}

function schemaIn(given: Schema | boolean | undefined): Schema | undefined {
  return typeof given === 'object' ? given : undefined;
}
