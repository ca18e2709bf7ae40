import type { BuilderTarget } from '../../../builder/suite/target.js';
import { drivingSuite } from './driving.js';
import { finalizersSuite } from './finalizers.js';
import { parallelSuite } from './parallel.js';
import { passesSuite } from './passes.js';
import { pausingSuite } from './pausing.js';
import { readinessSuite } from './readiness.js';
import { routingSuite } from './routing.js';
import { scenes } from './scene.js';

/** Declares how the framework behaves, on either server. */
export function frameworkSuite(newTarget: () => Promise<BuilderTarget>): void {
  const open = scenes(newTarget);

  describe('finalizers', () => finalizersSuite(open));
  describe('pausing', () => pausingSuite(open));
  describe('readiness', () => readinessSuite(open));
  describe('routing of objects to resource sets', () => routingSuite(open));
  describe('reconciles', () => passesSuite(open));
  describe('several frameworks for one kind', () => parallelSuite(open));
  describe('in a manager that is restarted', () => drivingSuite(newTarget));
}
