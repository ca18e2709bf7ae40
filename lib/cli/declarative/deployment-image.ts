import { isMap, isSeq, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { checkYamlDepth, isJsonObject } from '../../object/index.js';
import { contentError } from '../files.js';
import { objectsAt, textAt } from '../json-values.js';
import { imageWithTag, splitImage } from '../package/overlay.js';

/** Name of the manager's image in the manifests; kustomize replaces it. */
const deployedName = 'controller';

/**
 * Returns the image that a kustomization gives to the manager.
 * @returns undefined if it does not change the image
 * @throws OperatorError `InvalidConfig`: invalid YAML
 */
export function managerImage(kustomization: string, path: string): string | undefined {
  const content: unknown = documentOf(kustomization, path).toJS();
  const images = objectsAt(isJsonObject(content) ? content : {}, 'images');
  const item = images.find(({ name }) => name === deployedName);
  if (item === undefined) return undefined;
  const [tag, digest] = [textAt(item, 'newTag'), textAt(item, 'digest')];
  const end = digest === '' ? tag && `:${tag}` : `@${digest}`;
  return (textAt(item, 'newName') || deployedName) + end;
}

/**
 * Changes the manager's image in a kustomization; other images and comments stay.
 * @throws UsageError invalid image
 * @throws OperatorError `InvalidConfig`: invalid YAML
 */
export function withManagerImage(kustomization: string, image: string, path: string): string {
  const { name: newName, tag, digest } = splitImage(imageWithTag(image));
  const [field, value, other] =
    digest === '' ? (['newTag', tag, 'digest'] as const) : (['digest', digest, 'newTag'] as const);
  const wanted = { name: deployedName, newName, [field]: value };
  const document = documentOf(kustomization, path);
  const images = document.get('images');
  if (!isSeq(images)) document.set('images', document.createNode([wanted]));
  else {
    const item = images.items.find((one) => isMap(one) && one.get('name') === deployedName);
    if (isMap(item)) {
      item.set('newName', newName);
      item.set(field, value);
      item.delete(other);
    } else images.add(document.createNode(wanted));
  }
  return document.toString({ lineWidth: 0 });
}

function documentOf(text: string, path: string): Document {
  const document = parseDocument(checkYamlDepth(text, path));
  const [problem] = document.errors;
  if (problem !== undefined) throw contentError(path, problem.message.trimEnd(), problem);
  return document;
}
