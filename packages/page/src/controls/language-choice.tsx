import { chooseLanguage, chosenLanguage, languages, type Language } from '../texts/locale.ts'
import { texts } from '../texts/texts.ts'

export function LanguageChoice() {
  return (
    <label class="language-choice u-block">
      <span class="visually-hidden">{texts.frame.language}</span>
      <select
        class="u-muted u-full u-no-ground u-small"
        value={chosenLanguage() ?? ''}
        onChange={({ currentTarget: { value } }) => chooseLanguage(value === '' ? null : (value as Language))}
      >
        <option value="">{texts.frame.browserLanguage}</option>
        {Object.entries(languages).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
