export { wrongUsage } from '../model/user-error.ts';
