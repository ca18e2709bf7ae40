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
import { takingOverSuite } from './taking-over.js';
import { upgradingSuite } from './upgrading.js';
import { waitingSuite } from './waiting.js';
import { watchingOverSuite } from './watching-over.js';

/** Declares the lifecycle page's cases, on either server. */
export function lifecycleSuite(newTarget: () => Promise<BuilderTarget>): void {
  const open = stages(newTarget);

  describe('deploying', () => deployingSuite(open));
  describe('upgrading', () => upgradingSuite(open));
  describe('healing', () => healingSuite(open));
  describe('settling', () => settlingSuite(open));
  describe('deleting', () => deletingSuite(open));
  describe('callbacks', () => callingBackSuite(open));
  describe('keeping', () => keepingSuite(open));
  describe('guarding', () => guardingSuite(open));
  describe('taking over', () => takingOverSuite(open));
  describe('waiting', () => waitingSuite(open));
  describe('watching over', () => watchingOverSuite(open));
  describe('a phase without a version', () => contradictingSuite(open));
  describe('bad input', () => badInputSuite(open));
  describe('definitions', () => definingSuite(open));
  describe('driven', () => drivingSuite(open));
  describe('in a Manager', () => managingSuite(open));
}
