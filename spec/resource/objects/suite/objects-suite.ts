import { Scene } from '../../../builder/suite/scene.js';
import type { BuilderTarget, NewTarget } from '../../../builder/suite/target.js';
import { badListsSuite } from './bad-lists.js';
import { changesSuite } from './changes.js';
import type { OpenScene } from './keeping.js';
import { othersSuite } from './others.js';
import { ownersSuite } from './owners.js';
import { superfluousSuite } from './superfluous.js';

/** Declares how resources that keep objects behave, on either server. */
export function objectsSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  before(async () => {
    target = await newTarget();
  });
  after(() => target.close());
  const open: OpenScene = () => Scene.open(target);

  describe('desired objects', () => changesSuite(open));
  describe('objects that are no longer desired', () => superfluousSuite(open));
  describe('changes by other clients', () => othersSuite(open));
  describe('owners of objects', () => ownersSuite(open));
  describe('bad input', () => badListsSuite(open));
}
