export { FieldErrors, quoted } from '../../crd/validation/field-errors.js';
