import { controllerFor } from '../../lib/controller/controller.js';
import type { Controller } from '../../lib/controller/controller.js';
import type { ReconcileContext } from '../../lib/controller/reconcile.js';
import { done } from '../../lib/controller/result.js';
import type { Result } from '../../lib/controller/result.js';
import type { OwnerReference } from '../../lib/object/kubernetes-object.js';
import { keyString } from '../../lib/object/object-key.js';
import { Thing } from '../cache/fake-server.js';
import { Part } from './controller-setup.js';
import type { ControllerSetup } from './controller-setup.js';

export type Handler = (context: ReconcileContext) => Promise<Result>;

/** Records keys and their triggers, then runs the spec's reconciler. */
export function noting(handler: Handler = async () => done(), maxConcurrentReconciles = 4) {
  const seen: string[] = [];
  const controller: Controller = controllerFor(Thing)
    .owns(Part)
    .withOptions({ maxConcurrentReconciles })
    .complete(async (context) => {
      seen.push(`${keyString(context.key)} ${context.trigger.type}`);
      return handler(context);
    });
  return { controller, seen };
}

export function ownedBy(name: string): Partial<Thing> {
  const owner: OwnerReference = { apiVersion: 'example.com/v1', kind: 'Thing', name, uid: 'x' };
  return { metadata: { ownerReferences: [{ ...owner, controller: true }] } };
}

export const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

/** Reports whether a promise has settled after all due work. */
export function watched(setup: ControllerSetup, promise: Promise<void>) {
  let isSettled = false;
  void promise.then(() => (isSettled = true));
  return async (ms = 0): Promise<boolean> => {
    await setup.clock.advance(ms);
    return isSettled;
  };
}
