import { InvalidConfigError } from './invalid-config-error.js';
import type { PatchPart } from './patch.js';

const defaultOrder: readonly PatchPart[] = ['create', 'delete', 'update'];

/** @throws InvalidConfigError `order` does not name each part once. */
export function resolvePatchOrder(
  order: readonly PatchPart[] = defaultOrder,
  resource: string,
): readonly PatchPart[] {
  const given: unknown = order;
  if (!Array.isArray(given)) throw notAnOrder(resource, typeof given);
  const isWhole =
    order.length === defaultOrder.length && defaultOrder.every((part) => order.includes(part));
  if (!isWhole) throw notAnOrder(resource, `[${order.join(', ')}]`);
  return Object.freeze([...order]);
}

function notAnOrder(resource: string, got: string): InvalidConfigError {
  const want = 'want create, delete and update, each once';
  return new InvalidConfigError(`resource ${resource}: order: ${want}, got ${got}`);
}
