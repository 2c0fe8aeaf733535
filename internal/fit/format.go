package fit

// formatNamed returns the check of a format, or nil for those that are not
// decided. A check may refuse what the validator accepts, never the reverse.
// The ones for times refuse leap seconds and lower case, as time.Time does.
func formatNamed(name string) func([]byte) bool {
	switch name {
	case "date":
		return isDate
	case "time":
		return isTime
	case "date-time":
		return isDateTime
	case "uuid":
		return isUUID
	default:
		return nil
	}
}

// isDateTime checks for a date-time of RFC 3339.
func isDateTime(s []byte) bool {
	return len(s) > 10 && s[10] == 'T' && isDate(s[:10]) && isTime(s[11:])
}

func isDate(s []byte) bool {
	if !matches(s, "0000-00-00") {
		return false
	}
	year := int(s[0]-'0')*1000 + int(s[1]-'0')*100 + twoDigits(s[2:])
	month, day := twoDigits(s[5:]), twoDigits(s[8:])
	return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	default:
		return 31
	}
}

// isTime checks for a full-time of RFC 3339.
func isTime(s []byte) bool {
	if len(s) < 9 || !matches(s[:8], "00:00:00") {
		return false
	}
	if twoDigits(s) > 23 || twoDigits(s[3:]) > 59 || twoDigits(s[6:]) > 59 {
		return false
	}
	s = s[8:]
	if s[0] == '.' {
		end := 1
		for end < len(s) && s[end]-'0' <= 9 {
			end++
		}
		if end == 1 {
			return false
		}
		s = s[end:]
	}
	return isOffset(s)
}

func isOffset(s []byte) bool {
	if len(s) == 1 {
		return s[0] == 'Z'
	}
	if !matches(s, "+00:00") && !matches(s, "-00:00") {
		return false
	}
	return twoDigits(s[1:]) <= 23 && twoDigits(s[4:]) <= 59
}

func isUUID(s []byte) bool {
	const groups = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	return matches(s, groups)
}

// matches reports whether s has the form of mask, where 0 stands for a digit,
// x for a hexadecimal one, and every other byte for itself.
func matches(s []byte, mask string) bool {
	if len(s) != len(mask) {
		return false
	}
	for i, b := range s {
		digit := b-'0' <= 9
		switch mask[i] {
		case '0':
			if !digit {
				return false
			}
		case 'x':
			if !digit && (b|0x20 < 'a' || b|0x20 > 'f') {
				return false
			}
		default:
			if b != mask[i] {
				return false
			}
		}
	}
	return true
}

// twoDigits reads the number in the first two bytes of s, which are digits.
func twoDigits(s []byte) int { return int(s[0]-'0')*10 + int(s[1]-'0') }
