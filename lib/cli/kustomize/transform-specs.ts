import type { FieldSpec } from './field-spec.js';
import type { KindSelector } from './resource-id.js';

/** Fields that hold the name of an object of a kind. */
export interface NameReference extends KindSelector {
  readonly fieldSpecs: readonly FieldSpec[];
}

/** The fields that kustomizations change. */
export interface TransformSpecs {
  readonly namespace: readonly FieldSpec[];
  readonly commonLabels: readonly FieldSpec[];
  readonly templateLabels: readonly FieldSpec[];
  readonly commonAnnotations: readonly FieldSpec[];
  readonly images: readonly FieldSpec[];
  readonly replicas: readonly FieldSpec[];
  readonly nameReference: readonly NameReference[];
}

export const noSpecs: TransformSpecs = {
  namespace: [],
  commonLabels: [],
  templateLabels: [],
  commonAnnotations: [],
  images: [],
  replicas: [],
  nameReference: [],
};

/** Merges two sets of fields without duplicates. */
export function mergedSpecs(one: TransformSpecs, other: TransformSpecs): TransformSpecs {
  const names = Object.keys(noSpecs) as (keyof TransformSpecs)[];
  const merged = names.map((name) => [name, unique([...one[name], ...other[name]])] as const);
  return Object.fromEntries(merged) as unknown as TransformSpecs;
}

function unique<T>(list: readonly T[]): readonly T[] {
  return [...new Map(list.map((one) => [JSON.stringify(one), one])).values()];
}
