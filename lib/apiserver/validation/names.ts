export {
  configKeyProblems,
  domainPathProblems,
  generateNameProblems,
  label1035Problems,
  labelProblems,
  labelValueProblems,
  nameProblems,
  pathSegmentProblems,
  portNameProblems,
  qualifiedNameProblems,
  searchDomainProblems,
  subdomainProblems,
  wildcardProblems,
} from '../../crd/validation/names.js';
export type { NameFormat } from '../../crd/validation/names.js';
