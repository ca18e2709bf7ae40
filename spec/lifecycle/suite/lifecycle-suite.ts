import type { BuilderTarget } from '../../builder/suite/target.js';
import { deployingSuite } from './deploying.js';
import { badInputSuite } from './bad-input.js';
import { callingBackSuite } from './calling-back.js';
import { contradictingSuite } from './contradicting.js';
import { definingSuite } from './defining.js';
import { deletingSuite } from './deleting.js';
import { healingSuite } from './healing.js';
import { drivingSuite } from './driving.js';
import { guardingSuite } from './guarding.js';
import { keepingSuite } from './keeping.js';
import { managingSuite } from './managing.js';
import { settlingSuite } from './settling.js';
import { stages } from './stage.js';
import { storingSuite } from './storing.js';
import { takingOverSuite } from './taking-over.js';
import { upgradingSuite } from './upgrading.js';
import { waitingSuite } from './waiting.js';
import { watchingOverSuite } from './watching-over.js';

/** Declares the cases of docs/lifecycle.md, on either server. */
export function lifecycleSuite(newTarget: () => Promise<BuilderTarget>): void {
  const open = stages(newTarget);

  describe('deploying', () => deployingSuite(open));
  describe('upgrading', () => upgradingSuite(open));
  describe('repair of changed objects', () => healingSuite(open));
  describe('a system without changes', () => settlingSuite(open));
  describe('deleting', () => deletingSuite(open));
  describe('callbacks', () => callingBackSuite(open));
  describe('perishablesSynchronizer', () => keepingSuite(open));
  describe('protection of user data', () => guardingSuite(open));
  describe('pausing and taking over', () => takingOverSuite(open));
  describe('conditions during a wait', () => waitingSuite(open));
  describe('health checks and hooks', () => watchingOverSuite(open));
  describe('an inconsistent status', () => contradictingSuite(open));
  describe('bad input', () => badInputSuite(open));
  describe('a kind that cannot store its status', () => storingSuite(open));
  describe('custom resource definitions', () => definingSuite(open));
  describe('a reconciler driven by watch events', () => drivingSuite(open));
  describe('in a Manager', () => managingSuite(open));
}
