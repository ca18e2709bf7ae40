// The embedded server, floors below, makes certificates too.
export {
  createAuthority,
  fitTogether,
  issueCertificate,
  readCertificate,
  splitBundle,
} from '../../system/x509.js';
export type { Authority, IssueOptions, Validity } from '../../system/x509.js';
