import { expect } from 'chai';
import type { BuilderTarget, NewTarget } from '../../../builder/suite/target.js';
import { objectsOf } from './sample-objects.js';

/** Checks that a server accepts the objects of a ResourceBuilder. */
export function acceptedObjectsSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let namespace: string;
  before(async () => {
    target = await newTarget();
    namespace = await target.namespace();
  });
  after(() => target.close());

  for (const method of Object.keys(objectsOf('shop'))) {
    it(`creates a valid object with every field in ${method}`, async () => {
      const object = objectsOf(namespace)[method];
      if (object === undefined) throw new Error(method);
      const options = { dryRun: true, fieldValidation: 'Strict' } as const;
      const made = await target.admin.create(object, options);
      expect(made.metadata.labels).to.deep.equal(object.metadata.labels);
    });
  }
}
