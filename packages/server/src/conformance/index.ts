export {
  authenticatorLaws,
  type AuthenticatorUnderTest,
  type Law,
  type MakeAuthenticator,
} from './authenticator-laws.ts'
