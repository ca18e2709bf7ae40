import { goType } from '../../../../lib/apiserver/go-json/go-types.js';
import { Decoding } from '../../../../lib/apiserver/go-json/decoding.js';
import {
  definitionName,
  goTypeName,
  definition,
} from '../../../../lib/apiserver/kinds/documents.js';
import { excludeFields } from '../../../../lib/apiserver/structured-merge/index.js';
import type { FieldFilter } from '../../../../lib/apiserver/structured-merge/index.js';
import type { UnstructuredObject } from '../../../../lib/object/kubernetes-object.js';
import { groupOf, versionOf } from '../../../../lib/object/resource-type.js';
import type { Schema } from '../../../../lib/object/schema.js';
import { customSchemas } from './kinds.js';
import type { ScenarioKind } from './scenario.js';

/** Parts of a kind that the field manager needs. */
export interface ScenarioType {
  readonly schema: Schema;
  readonly emptyObject: Readonly<Record<string, unknown>>;
  /** Decodes an object as the server does, without defaults. */
  readonly decode: (object: UnstructuredObject) => UnstructuredObject;
}

const known = new Map<ScenarioKind, ScenarioType>();

/** Returns the type of a scenario's objects, with real schemas for built-in kinds. */
export function typeOf(kind: ScenarioKind): ScenarioType {
  const type = known.get(kind) ?? makeType(kind);
  known.set(kind, type);
  return type;
}

function makeType(on: ScenarioKind): ScenarioType {
  const custom = customSchemas[on.kind];
  if (custom !== undefined) {
    return { schema: customSchema(custom), emptyObject: {}, decode: (object) => object };
  }
  const name = definitionName(groupOf(on.apiVersion), versionOf(on.apiVersion), on.kind);
  const type = goType(goTypeName(name));
  const decode = (object: unknown) => type.decode(object, new Decoding()) as UnstructuredObject;
  return { schema: definition(name), emptyObject: { ...decode({}) }, decode };
}

function customSchema(schema: Schema): Schema {
  const metadata = definition('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  const text: Schema = { type: 'string' };
  const properties = { apiVersion: text, kind: text, metadata, ...schema.properties };
  return { ...schema, properties };
}

/** Returns the fields that a write to an endpoint of a kind cannot change. */
export function resetsOf(
  on: ScenarioKind,
  subresource: string | undefined,
): FieldFilter | undefined {
  const custom = on.kind in customSchemas;
  if (subresource === 'status') {
    return excludeFields('spec', custom ? 'metadata' : 'metadata.labels');
  }
  return on.kind === 'Blob' ? undefined : excludeFields('status');
}
