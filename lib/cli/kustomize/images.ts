import { isJsonObject } from '../../object/json.js';
import type { Json } from './json-values.js';
import { textAt } from './json-values.js';
import { visitField } from './field-spec.js';
import type { Place } from './field-spec.js';
import type { Resource } from './resource.js';
import type { TransformSpecs } from './transform-specs.js';

/** An entry of `images`: the replacement of an image. */
export interface ImageChange {
  /** Name without tag and digest. */
  readonly name: string;
  readonly newName?: string | undefined;
  readonly newTag?: string | undefined;
  readonly tagSuffix?: string | undefined;
  readonly digest?: string | undefined;
}

/** The parts of an image's name; empty if absent. */
export interface ImageName {
  readonly name: string;
  readonly tag: string;
  readonly digest: string;
}

/** Splits an image: `host:5000/name:tag@sha256:…`. */
export function splitImage(image: string): ImageName {
  const host = Math.max(image.indexOf('/'), 0);
  const at = image.indexOf('@', host);
  const bare = at < 0 ? image : image.slice(0, at);
  const colon = bare.indexOf(':', host);
  return {
    name: colon < 0 ? bare : bare.slice(0, colon),
    tag: colon < 0 ? '' : bare.slice(colon + 1),
    digest: at < 0 ? '' : image.slice(at + 1),
  };
}

/** Joins the parts of an image. */
export function imageText({ name, tag, digest }: ImageName): string {
  return `${name}${tag === '' ? '' : `:${tag}`}${digest === '' ? '' : `@${digest}`}`;
}

/** Replaces an image in all containers and in the fields of `specs`. */
export function applyImage(
  resource: Resource,
  change: ImageChange,
  specs: TransformSpecs['images'],
): void {
  const visit = ({ value, set }: Place): void => {
    if (typeof value === 'string') set(changedImage(value, change));
  };
  const { object } = resource;
  if (object['kind'] !== 'CustomResourceDefinition') visitContainers(object, visit);
  for (const spec of specs) visitField(object, spec, { visit });
}

/** Searches the whole object: custom resources have containers at any path. */
function visitContainers(value: unknown, visit: (place: Place) => void): void {
  if (Array.isArray(value)) for (const item of value) visitContainers(item, visit);
  if (!isJsonObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    visitContainers(member, visit);
    if (!['containers', 'initContainers'].includes(name) || !Array.isArray(member)) continue;
    for (const item of member as unknown[]) {
      if (!isJsonObject(item) || !('image' in item)) continue;
      const container = item as Json;
      visit({ value: textAt(container, 'image'), set: (to) => (container['image'] = to) });
    }
  }
}

function changedImage(image: string, change: ImageChange): string {
  const { name, newName = '', newTag = '', digest = '', tagSuffix = '' } = change;
  const pattern = new RegExp(`^${name}(?::[\\w.{}-]*)?(?:@sha256:[\\w.{}-]*)?$`);
  if (!pattern.test(image)) return image;
  const old = splitImage(image);
  const parts = { ...old, name: newName === '' ? old.name : newName };
  if (newTag !== '' || digest !== '') return imageText({ ...parts, tag: newTag, digest });
  if (tagSuffix === '') return imageText(parts);
  return imageText({ ...parts, tag: old.tag + tagSuffix, digest: '' });
}
