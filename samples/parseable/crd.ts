import { ParseableTenant } from './tenant.js';

/** The definition that the operator installs at its start. */
export const parseableTenantCrd = ParseableTenant.crd;
