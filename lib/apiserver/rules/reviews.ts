import type {
  V1NonResourceAttributes,
  V1ResourceAttributes,
  V1SubjectAccessReview,
  V1TokenReview,
} from '@kubernetes/client-node';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { formatTime, withoutMembers } from '../../object/index.js';
import type { AccessAttributes } from '../auth/policy-rule.js';
import { pathAttributes } from '../auth/policy-rule.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { UserInfo } from '../auth/authenticator.js';
import { badRequest, failure, invalid } from '../status-error.js';
import { FieldErrors } from '../../crd/internal.js';
import type { KindRules, ReviewContext } from './kind-rules.js';

type AccessSpec = Wire<V1SubjectAccessReview>['spec'];

function answered(object: UnstructuredObject, status: unknown): UnstructuredObject {
  return { ...object, status };
}

/** Returns a user in the form that reviews print. */
function shownUser({ username, uid, groups, extra }: UserInfo): object {
  return { username, ...(uid && { uid }), groups, ...(extra && { extra }) };
}

const group = 'authorization.k8s.io';

function checkAccessReview(
  object: UnstructuredObject,
  { namespace }: ReviewContext,
  form: 'self' | 'cluster' | 'local',
): AccessSpec {
  const spec = object['spec'] as AccessSpec;
  const { resourceAttributes, nonResourceAttributes, user = '', groups = [] } = spec;
  const errors = new FieldErrors();
  const [both, none] = [
    'cannot be specified in combination with resourceAttributes',
    'exactly one of nonResourceAttributes or resourceAttributes must be specified',
  ];
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    errors.invalid('spec.nonResourceAttributes', nonResourceAttributes, both);
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    errors.invalid('spec.resourceAttributes', null, none);
  }
  if (form !== 'self' && user === '' && groups.length === 0) {
    errors.invalid('spec.user', user, 'at least one of user or group must be specified');
  }
  checkMetadata(object, form, errors);
  if (form === 'local') {
    const { namespace: asked = '' } = resourceAttributes ?? {};
    const own = object.metadata.namespace ?? '';
    const field = 'spec.resourceAttributes.namespace';
    if (resourceAttributes !== undefined && asked !== own) {
      errors.invalid(field, asked, 'must match metadata.namespace');
    }
    if (nonResourceAttributes !== undefined) {
      const why = 'disallowed on this kind of request';
      errors.invalid('spec.nonResourceAttributes', nonResourceAttributes, why);
    }
  }
  // The real server omits the kind in this error.
  if (!errors.empty) throw reviewInvalid(errors);
  if (form === 'local' && namespace !== (object.metadata.namespace ?? '')) {
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
  }
  return spec;
}

function checkMetadata(
  { metadata }: UnstructuredObject,
  form: 'self' | 'cluster' | 'local',
  errors: FieldErrors,
): void {
  const ignored = form === 'local' ? ['managedFields', 'namespace'] : ['managedFields'];
  const rest = withoutMembers(metadata, ...(ignored as 'managedFields'[]));
  if (Object.keys(rest).length === 0) return;
  const why = form === 'local' ? 'must be empty except for namespace' : 'must be empty';
  errors.invalid('metadata', metadata, why);
}

function reviewInvalid(errors: FieldErrors): Error {
  const { body } = invalid({ group, kind: '', name: '' }, errors.causes);
  const details = withoutMembers(body.details ?? {}, 'kind');
  return failure(422, 'Invalid', body.message ?? '', details);
}

function attributesOf(spec: AccessSpec): AccessAttributes {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes !== undefined) return resourceAttributesOf(resourceAttributes);
  const { verb = '', path = '' }: Wire<V1NonResourceAttributes> = nonResourceAttributes ?? {};
  return pathAttributes(verb, path);
}

function resourceAttributesOf(attributes: Wire<V1ResourceAttributes>): AccessAttributes {
  const { verb = '', resource = '', subresource = '', namespace = '', name = '' } = attributes;
  return { verb, group: attributes.group ?? '', resource, subresource, namespace, name };
}

function decided(
  object: UnstructuredObject,
  authorizer: Authorizer,
  { user, spec }: { readonly user: UserInfo; readonly spec: AccessSpec },
): UnstructuredObject {
  const { allowed, reason } = authorizer.authorize(user, attributesOf(spec));
  return answered(object, { allowed, ...(reason !== '' && { reason }) });
}

function accessReview(form: 'cluster' | 'local'): KindRules {
  return {
    review: (object, context) => {
      const spec = checkAccessReview(object, context, form);
      const { user: username = '', uid, groups = [], extra } = spec;
      const { authorizer } = context.access;
      return decided(object, authorizer, { user: { username, uid, groups, extra }, spec });
    },
  };
}

const selfAccessReview: KindRules = {
  review: (object, context) => {
    const spec = checkAccessReview(object, context, 'self');
    return decided(object, context.authorizer, { user: context.user, spec });
  },
};

const rulesReview: KindRules = {
  review: ({ apiVersion, kind, spec }, { user, access, authorizer }) => {
    const { namespace = '' } = (spec ?? {}) as { namespace?: string };
    if (namespace === '') throw badRequest('no namespace on request');
    const own = authorizer.rulesFor?.(user, namespace);
    const { granted, errors } = access.rulesFor(user, namespace);
    const rules = own ?? granted.map(({ rule }) => rule);
    const status = {
      resourceRules: rules
        .filter(({ resources = [] }) => resources.length > 0)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs,
          apiGroups,
          resources,
          ...(resourceNames && { resourceNames }),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
      ...(errors.length > 0 && { evaluationError: errors.join(', ') }),
    };
    return { kind, apiVersion, metadata: {}, spec: {}, status };
  },
};

const tokenReview: KindRules = {
  review: (object, { access }) => {
    const { token = '', audiences = [] } = object['spec'] as Wire<V1TokenReview>['spec'];
    if (token === '') throw badRequest('token is required for TokenReview in authentication');
    const wanted = audiences.length === 0 ? undefined : audiences;
    const verdict = access.authenticator.tokenUser(token, wanted);
    if ('error' in verdict) return answered(object, { user: {}, error: verdict.error });
    const { user, audiences: common } = verdict;
    return answered(object, { authenticated: true, user: shownUser(user), audiences: common });
  },
};

const selfReview: KindRules = {
  review: ({ apiVersion, kind, metadata }, { user, now }) => ({
    kind,
    apiVersion,
    metadata: { ...metadata, creationTimestamp: formatTime(now) },
    status: { userInfo: shownUser(user) },
  }),
};

/** The rules of reviews, which query permissions. */
export const reviewRules: Readonly<Record<string, KindRules>> = {
  'authentication.k8s.io/v1/TokenReview': tokenReview,
  'authentication.k8s.io/v1/SelfSubjectReview': selfReview,
  'authorization.k8s.io/v1/SubjectAccessReview': accessReview('cluster'),
  'authorization.k8s.io/v1/LocalSubjectAccessReview': accessReview('local'),
  'authorization.k8s.io/v1/SelfSubjectAccessReview': selfAccessReview,
  'authorization.k8s.io/v1/SelfSubjectRulesReview': rulesReview,
};
