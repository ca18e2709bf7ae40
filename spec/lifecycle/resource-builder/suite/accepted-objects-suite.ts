import { expect } from 'chai';
import type { BuilderTarget, NewTarget } from '../../../builder/suite/target.js';
import { objectsOf } from './sample-objects.js';

/** Whether a server takes what a ResourceBuilder makes, whichever server. */
export function acceptedObjectsSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let namespace: string;
  before(async () => {
    target = await newTarget();
    namespace = await target.namespace();
  });
  after(() => target.close());

  for (const method of Object.keys(objectsOf('shop'))) {
    it(`takes what ${method} makes, every field of it`, async () => {
      const object = objectsOf(namespace)[method];
      if (object === undefined) throw new Error(method);
      const options = { dryRun: true, fieldValidation: 'Strict' } as const;
      const made = await target.admin.create(object, options);
      expect(made.metadata.labels).to.deep.equal(object.metadata.labels);
    });
  }
}
