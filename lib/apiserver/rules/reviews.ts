import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { isJsonObject } from '../../object/json.js';
import type { KindRules } from './kind-rules.js';

function answered(object: UnstructuredObject, status: unknown): UnstructuredObject {
  return { ...object, status };
}

const groups = ['system:masters', 'system:authenticated'];

// There is no authorization here yet: whoever is known may do everything.
const accessReview: KindRules = {
  review: (object) => answered(object, { allowed: true }),
};

const rulesReview: KindRules = {
  review: (object) =>
    answered(object, {
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      incomplete: false,
    }),
};

const tokenReview: KindRules = {
  review: (object, { server }) => {
    const { spec } = object;
    const token = isJsonObject(spec) && typeof spec['token'] === 'string' ? spec['token'] : '';
    const username = server.userOf(token);
    // The token itself is not answered, whoever's it is.
    const asked = { ...object, spec: {} };
    if (username === undefined) {
      return answered(asked, { user: {}, error: 'invalid bearer token' });
    }
    return answered(asked, { authenticated: true, user: { username, groups } });
  },
};

const selfReview: KindRules = {
  review: (object, { user }) => answered(object, { userInfo: { username: user, groups } }),
};

/** The rules of reviews: questions about who may do what. */
export const reviewRules: Readonly<Record<string, KindRules>> = {
  'authentication.k8s.io/v1/TokenReview': tokenReview,
  'authentication.k8s.io/v1/SelfSubjectReview': selfReview,
  'authorization.k8s.io/v1/SubjectAccessReview': accessReview,
  'authorization.k8s.io/v1/LocalSubjectAccessReview': accessReview,
  'authorization.k8s.io/v1/SelfSubjectAccessReview': accessReview,
  'authorization.k8s.io/v1/SelfSubjectRulesReview': rulesReview,
};
