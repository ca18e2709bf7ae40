import { approvalAnnotation, isProtectedGroup, parseRequestUrl } from '../../crd/internal.js';
import type { FieldErrors } from '../../crd/internal.js';
import type { Crd, CrdCondition } from './crd.js';

/** The reason and message of the CRD condition about the annotation `api-approved.kubernetes.io`. */
interface Approval {
  readonly reason: `${'Missing' | 'Invalid' | 'Unapproved' | 'Approved'}Annotation`;
  readonly message: string;
}

/** @returns undefined if the group does not belong to the Kubernetes project */
function approvalOf({ spec, metadata }: Crd): Approval | undefined {
  if (!isProtectedGroup(spec.group)) return undefined;
  const { [approvalAnnotation]: text = '' } = metadata.annotations ?? {};
  const required = `protected groups must have approval annotation "${approvalAnnotation}"`;
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (text === '') return { reason: 'MissingAnnotation', message: `${required}, ${see}` };
  const shown = JSON.stringify(text);
  if (text.startsWith('unapproved')) {
    return { reason: 'UnapprovedAnnotation', message: `not approved: ${shown}` };
  }
  const url = parseRequestUrl(text);
  if (typeof url !== 'string' && url.host !== '' && url.scheme !== '') {
    return { reason: 'ApprovedAnnotation', message: `approved in ${text}` };
  }
  const message = `${required} with either a URL or a reason starting with "unapproved", ${see}`;
  return { reason: 'InvalidAnnotation', message };
}

/**
 * Checks the approval annotation of a CRD in a group of the Kubernetes project. If the annotation was missing or
 * invalid before, an update may leave it so.
 */
export function validateApproval(crd: Crd, errors: FieldErrors, old?: Crd): void {
  const approval = approvalOf(crd);
  if (approval === undefined) return;
  const { reason, message } = approval;
  if (old !== undefined && approvalOf(old)?.reason === reason) return;
  const field = `metadata.annotations[${approvalAnnotation}]`;
  if (reason === 'MissingAnnotation') errors.required(field, message);
  if (reason === 'InvalidAnnotation') {
    errors.invalid(field, crd.metadata.annotations?.[approvalAnnotation], message);
  }
}

/** Returns the condition `KubernetesAPIApprovalPolicyConformant` of a CRD in a group of the Kubernetes project. */
export function approvalCondition(crd: Crd): Omit<CrdCondition, 'lastTransitionTime'> | undefined {
  const approval = approvalOf(crd);
  if (approval === undefined) return undefined;
  const status = approval.reason === 'ApprovedAnnotation' ? 'True' : 'False';
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, ...approval };
}
