import { expect } from 'chai';
import { Api, configMap, configMaps } from '../api.js';
import { rule } from './webhook-api.js';

const base = '/apis/admissionregistration.k8s.io/v1';

describe('ValidatingAdmissionPolicies', () => {
  for (const action of ['Deny', 'Warn', 'Audit']) {
    it(`deny writes with the action ${action} if their parameters are missing`, async () => {
      const api = new Api();
      await api.create(`${base}/validatingadmissionpolicies`, {
        metadata: { name: 'p' },
        spec: {
          paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
          matchConstraints: { resourceRules: [rule()] },
          validations: [{ expression: 'true' }],
        },
      });
      const paramRef = { name: 'n', namespace: 'default', parameterNotFoundAction: 'Deny' };
      await api.create(`${base}/validatingadmissionpolicybindings`, {
        metadata: { name: 'b' },
        spec: { policyName: 'p', validationActions: [action], paramRef },
      });
      const { code, body, headers } = await api.call('POST', configMaps, configMap('a'));
      expect(code).to.equal(422);
      expect(body.message).to.equal(
        `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
      );
      expect(headers).not.to.have.property('warning');
    });
  }
});
