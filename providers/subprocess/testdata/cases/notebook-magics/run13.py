%env COLOR=blue
%env COLOR
