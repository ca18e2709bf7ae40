import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { installKinds, TargetScene } from './target-scene.js';
import type { OpenTargetScene } from './target-scene.js';
import { leftoversSuite } from './leftovers.js';
import { patcherSuite } from './patcher.js';
import { patcherListsSuite } from './patcher-lists.js';
import { refusalsSuite } from './refusals.js';
import { secretsSuite } from './secrets.js';
import { steadySuite } from './steady.js';
import { updaterSuite } from './updater.js';
import { updaterStatusSuite } from './target-status.js';
import { racesSuite } from './races.js';

/** Specs of writing targets, for any server. */
export function targetsSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  before(async () => {
    target = await newTarget();
    await installKinds(target.admin, target.clock);
  });
  after(() => target.close());
  const open: OpenTargetScene = () => TargetScene.open(target);

  describe('objects of an Updater', () => updaterSuite(open));
  describe('objects of a Patcher', () => patcherSuite(open));
  describe('patches of lists', () => patcherListsSuite(open));
  describe('objects with a status', () => updaterStatusSuite(open));
  describe('Secrets', () => secretsSuite(open));
  describe('unchanged documents', () => steadySuite(open));
  describe('concurrent changes', () => racesSuite(open));
  describe('objects of earlier processes', () => leftoversSuite(open));
  describe('invalid writes', () => refusalsSuite(open));
}
